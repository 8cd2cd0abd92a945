import Actions
import AppStoreModel
import Erasure
import FoundationEssentials
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import TestSupport
import Testing

@testable import Status

/// The rules of external purchase reports that compare lines with each other, with the time and with the ledger.
@Suite(.migratedDatabase)
struct ExternalPurchasePlanTests {
    private static let columns = [
        "external_purchase_id", "status", "line_item_id", "creation_date", "event_type", "product_type",
        "product_identifier",
        "quantity", "amount_tax_inclusive", "amount_tax_exclusive", "tax_amount", "net_amount_tax_exclusive",
        "reporting_currency", "pricing_currency", "exchange_rate", "tax_country", "reference_line_item_id",
        "subscription_event", "subscription_start_date", "subscription_end_date", "subscription_days_of_paid_service",
        "restatement", "erroneously_submitted",
    ]

    /// A moment from now, as an expression that gives Apple's milliseconds.
    private static func moment(_ interval: String) -> String {
        "floor(extract(epoch FROM now() + interval '\(interval)') * 1000)::bigint"
    }

    /// A purchase of 10.00 without tax, ten days ago.
    private func buy(_ token: String, _ id: String, _ changes: [String: String] = [:]) -> [String: String] {
        [
            "external_purchase_id": "'\(token)'", "status": "'LINE_ITEM'", "line_item_id": "'\(id)'",
            "creation_date": Self.moment("-10 days"), "event_type": "'BUY'", "product_type": "'ONE_TIME_BUY'",
            "product_identifier": "'coins'", "quantity": "1", "amount_tax_inclusive": "12000",
            "amount_tax_exclusive": "10000", "tax_amount": "2000", "net_amount_tax_exclusive": "10000",
            "reporting_currency": "'EUR'", "pricing_currency": "'EUR'", "tax_country": "'FRA'",
        ].merging(changes) { $1 }
    }

    /// A refund of 2.00 of that, nine days ago.
    private func refund(_ token: String, _ id: String, of bought: String, _ changes: [String: String] = [:]) -> [String:
        String]
    {
        buy(token, id).merging([
            "creation_date": Self.moment("-9 days"), "event_type": "'REFUND'", "product_type": "NULL",
            "product_identifier": "NULL", "quantity": "NULL", "amount_tax_inclusive": "2400",
            "amount_tax_exclusive": "2000", "tax_amount": "400", "net_amount_tax_exclusive": "8000",
            "reference_line_item_id": "'\(bought)'",
        ]) { $1 }.merging(changes) { $1 }
    }

    private func subscription(_ token: String, _ id: String, _ changes: [String: String] = [:]) -> [String: String] {
        buy(token, id).merging([
            "product_type": "'SUBSCRIPTION'", "subscription_event": "'SUBSCRIPTION_START'",
            "subscription_start_date": Self.moment("-10 days"), "subscription_end_date": Self.moment("20 days"),
            "subscription_days_of_paid_service": "0",
        ]) { $1 }.merging(changes) { $1 }
    }

    private func without(_ token: String, _ status: String = "NO_LINE_ITEM") -> [String: String] {
        ["external_purchase_id": "'\(token)'", "status": "'\(status)'"]
    }

    private func actions(_ query: String, in world: TestLedger, environment: String = "Production") throws
        -> ActionLedger
    {
        try actions(input: "query: |\n    \(query)", in: world, environment: environment)
    }

    private func actions(input: String, in world: TestLedger, environment: String = "Production") throws -> ActionLedger
    {
        let text = """
            version: 1
            name: report
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: \(environment)}
            appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
            action: {reportExternalPurchases: {}}
            input:
              \(input)
            output: {postgres: {url: "postgresql:///ledger"}}

            """
        let job = try AcceptedJobs.action.parse(text, path: "/jobs/report.yaml", environment: [:])
        return ActionLedger(ledger: world.ledger, app: world.app, job: job)
    }

    private func query(_ rows: [[String: String]]) -> String {
        let selects = rows.enumerated().map { number, row in
            let cells = Self.columns.map { "(\(row[$0] ?? "NULL"))::text AS \($0)" }
            return "SELECT \(number) AS n, \(cells.joined(separator: ", "))"
        }
        return
            "SELECT \(Self.columns.joined(separator: ", ")) FROM (\(selects.joined(separator: " UNION ALL "))) v ORDER BY n"
    }

    /// The only column of a query.
    private func texts(_ query: String, in world: TestLedger) async throws -> [String] {
        try await world.ledger.transaction { connection in
            try connection.run("SELECT q.value::text FROM (\(query)) q (value)").map { try $0.text("value") }
        }
    }

    /// Plans rows.
    ///
    /// - Returns: `valid`, or the rule of each row of the input.
    @discardableResult
    private func plan(
        _ rows: [[String: String]],
        in world: TestLedger,
        environment: String = "Production"
    ) async throws -> [String] {
        let actions = try actions(query(rows), in: world, environment: environment)
        _ = try await actions.plan(try BatchSource(actions.job.input))
        return try await texts(
            """
            SELECT coalesce(i.rule, r.verdict) FROM action_input_rows i JOIN action_rows r USING (app_id, batch_id, position)
              JOIN action_batches b USING (app_id, batch_id)
             WHERE b.planned_at = (SELECT max(planned_at) FROM action_batches) ORDER BY i.input_position
            """,
            in: world
        )
    }

    /// Plans reports, and has Apple take them.
    private func report(_ rows: [[String: String]], in world: TestLedger) async throws {
        let found = try await plan(rows, in: world)
        try #require(found.allSatisfy { $0 == "valid" }, "\(found)")
        try await world.run(
            """
            UPDATE action_batches SET approval_required = false, started_at = now(), finished_at = now() WHERE started_at IS NULL;
            UPDATE action_rows SET state = 'succeeded', ended_at = clock_timestamp(), request_id = gen_random_uuid() WHERE state = 'planned'
            """
        )
    }

    private func addToken(_ token: String, type: String?, created: String, expires: String? = nil, in world: TestLedger)
        async throws
    {
        try await world.run(
            """
            INSERT INTO notifications (app_id, notification_uuid, notification_type, subtype, external_purchase_id,
                external_purchase_token_type, external_purchase_token_creation_date, external_purchase_token_expiration_date,
                signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), gen_random_uuid(), 'EXTERNAL_PURCHASE_TOKEN', 'CREATED', '\(token)', \(type.map { "'\($0)'" } ?? "NULL"),
                \(created), \(expires ?? "NULL"), now(), '', '{}')
            """
        )
    }

    @Test func `EP7 EP8 the rows of a token are one report, and a bad row keeps the others of its report back`()
        async throws
    {
        let world = try await TestLedger()
        let found = try await plan(
            [
                buy("t1", "a"), without("t2"), buy("t1", "b"), buy("t3", "c"), without("t3"), without("t2"),
                buy("t4", "a"),
                buy("t5", "d"), refund("t6", "e", of: "d"), without("t7", "UNRECOGNIZED_TOKEN"),
            ],
            in: world
        )
        #expect(
            found == [
                "valid", "repeated_token", "valid", "mixed_status", "mixed_status", "repeated_token",
                "DuplicateValueError",
                "valid", "reference_in_other_report", "valid",
            ]
        )
        let reasons = try await texts(
            "SELECT reason FROM action_input_rows WHERE reason IS NOT NULL ORDER BY input_position",
            in: world
        )
        #expect(
            reasons == [
                "its report is not sent, because of row 6: row 2 reports the same token",
                "its report is not sent, because of row 5: status is NO_LINE_ITEM, and row 4 has LINE_ITEM for the same token; a report has one status",
                "status is NO_LINE_ITEM, and row 4 has LINE_ITEM for the same token; a report has one status",
                "row 2 reports the same token", "line_item_id is a, as in row 1; it must be unique (Apple's 1)",
                "reference_line_item_id is d, which row 8 reports for another token; report that one first",
            ]
        )
        let sizes = try await texts(
            "SELECT position || ' ' || jsonb_array_length(parameters -> 'line_items') FROM action_rows WHERE parameters ? 'line_items' ORDER BY position",
            in: world
        )
        #expect(sizes == ["1 2", "8 1"])
        #expect(try await world.count("action_rows WHERE verdict = 'valid'") == 3)
    }

    @Test func `EP4 EP10 dates are compared with the time of the plan`() async throws {
        let world = try await TestLedger()
        let found = try await plan(
            [
                buy("t1", "a", ["creation_date": Self.moment("1 minute")]),
                buy("t2", "b", ["creation_date": Self.moment("-3 years -1 day")]),
                buy("t3", "c", ["creation_date": Self.moment("-3 years 1 day")]),
                subscription("t4", "d", ["subscription_start_date": Self.moment("-4 years")]),
                buy("t5", "e", ["creation_date": Self.moment("-13 months"), "restatement": "true"]),
                buy("t6", "f", ["creation_date": Self.moment("-11 months"), "restatement": "true"]),
            ],
            in: world
        )
        #expect(
            found == [
                "FutureDateError", "DateTooFarInPastError", "valid", "DateTooFarInPastError",
                "RestatementNotAllowedCreationDateError", "valid",
            ]
        )
    }

    @Test(arguments: [false, true])
    func `EP9 a line fits the line that it references`(isKnown: Bool) async throws {
        let world = try await TestLedger()
        let first = [
            buy(
                "t0",
                "bought",
                ["reporting_currency": "'USD'", "pricing_currency": "'ISK'", "exchange_rate": "0.0069"]
            ),
            subscription("t0", "start"),
            subscription("t0", "renewal", ["subscription_event": "'RENEWAL'", "reference_line_item_id": "'start'"]),
            subscription("t0", "alone", ["subscription_event": "'RENEWAL'"]),
            refund("t0", "back", of: "start"),
        ]
        let usd = ["reporting_currency": "'USD'", "pricing_currency": "'ISK'", "exchange_rate": "0.0069"]
        func refunded(_ changes: [String: String]) -> [String: String] {
            refund("t0", "r", of: "bought", usd.merging(changes) { $1 })
        }
        let cases: [(String, [String: String])] = [
            ("valid", refunded([:])), ("valid", refunded(["exchange_rate": "0.00690"])),
            ("PricingCurrencyMismatchError", refunded(["pricing_currency": "'BDT'"])),
            ("ReportingCurrencyMismatchError", refunded(["reporting_currency": "'EUR'"])),
            ("ExchangeRateMismatchError", refunded(["exchange_rate": "0.007"])),
            ("TaxCountryMismatchError", refunded(["tax_country": "'DEU'"])),
            ("IncorrectNetAmountError", refunded(["net_amount_tax_exclusive": "8001"])),
            ("ReferencedCreationDateIncompatibleError", refunded(["creation_date": Self.moment("-11 days")])),
            ("RefundReferencedByRefundError", refund("t0", "r", of: "back")),
            (
                "ReferenceLineItemNotABuyError",
                subscription("t0", "r", ["subscription_event": "'RENEWAL'", "reference_line_item_id": "'back'"])
            ),
            (
                "NonInitialBuyReferencedByBuyError",
                subscription("t0", "r", ["subscription_event": "'RENEWAL'", "reference_line_item_id": "'renewal'"])
            ),
            (
                "ReferenceInvalidSubscriptionEventError",
                subscription("t0", "r", ["subscription_event": "'RENEWAL'", "reference_line_item_id": "'alone'"])
            ),
        ]
        if isKnown { try await report(first, in: world) }
        for (rule, row) in cases {
            let found = try await plan((isKnown ? [] : first) + [row], in: world)
            #expect(found.last == rule)
            let verdict = rule == "valid" ? "valid" : isKnown ? "ineligible" : "invalid"
            let newest =
                "SELECT verdict FROM action_rows JOIN action_batches USING (app_id, batch_id) ORDER BY planned_at DESC LIMIT 1"
            #expect(try await texts(newest, in: world) == [verdict], "\(rule)")
        }
        // Nobody knows the line, so Apple decides.
        #expect(try await plan([refund("t9", "r", of: "unknown")], in: world) == ["valid"])
    }

    @Test func `EP10 EP11 what Apple has taken decides about later reports of a token`() async throws {
        let world = try await TestLedger()
        try await addToken("t1", type: nil, created: "now() - interval '20 days'", in: world)
        try await addToken("t2", type: "SERVICES", created: "now() - interval '5 days'", in: world)
        let date = try #require(try await world.value(Self.moment("-10 days")))
        let bought = buy("t1", "a", ["creation_date": date])
        try await report([bought], in: world)
        #expect(try await plan([bought], in: world) == ["same_as_batch"])
        #expect(try await plan([buy("t1", "a")], in: world) == ["DuplicateValueError"])
        #expect(
            try await plan([buy("t1", "a", ["restatement": "true"])], in: world) == [
                "RestatementCreationDateMismatchError"
            ]
        )
        let mistaken = bought.merging(["restatement": "true", "erroneously_submitted": "true"]) { $1 }
        try await report([mistaken], in: world)
        #expect(
            try await plan([mistaken.merging(["quantity": "2"]) { $1 }], in: world) == [
                "RepeatErroneousSubmissionError"
            ]
        )
        #expect(
            try await plan([refund("t1", "b", of: "a")], in: world) == ["ValidLineItemReferencesErroneousLineItemError"]
        )
        try await report([bought.merging(["restatement": "true", "quantity": "3"]) { $1 }], in: world)
        let tokens = [without("t1"), without("t2", "DUPLICATE_TOKEN"), without("t3", "DUPLICATE_TOKEN")]
        let found = try await plan(tokens, in: world)
        #expect(found == ["LineItemStatusRegressionError", "valid", "valid"])
        #expect(
            try await plan([without("t1", "DUPLICATE_TOKEN")], in: world) == ["DuplicateTokenStatusNotAllowedError"]
        )
        #expect(try await plan([buy("t2", "c")], in: world) == ["LineItemCreationDateOutOfRangeError"])
        try await addToken(
            "t4",
            type: "SERVICES",
            created: "now() - interval '40 days'",
            expires: "now() - interval '15 days'",
            in: world
        )
        #expect(try await plan([buy("t4", "d")], in: world) == ["LineItemCreationDateOutOfRangeError"])

        let later = try #require(try await world.value(Self.moment("-9 days")))
        let back = refund("t5", "n", of: "m", ["creation_date": later])
        try await report([buy("t5", "m", ["creation_date": date]), back], in: world)
        let withdrawn = [
            "restatement": "true", "erroneously_submitted": "true", "net_amount_tax_exclusive": "10000",
        ]
        #expect(try await plan([back.merging(withdrawn) { $1 }], in: world) == ["valid"])
    }

    @Test func `EP17 a purchase is not withdrawn while its refund is valid, and both are withdrawn together`()
        async throws
    {
        let world = try await TestLedger()
        let (bought, refunded) = (try await value(of: "-10 days", in: world), try await value(of: "-9 days", in: world))
        let mistaken = ["restatement": "true", "erroneously_submitted": "true"]
        let buy = buy("t1", "a", ["creation_date": bought])
        let refund = refund("t1", "b", of: "a", ["creation_date": refunded])
        let wrongBuy = buy.merging(mistaken) { $1 }
        let wrongRefund = refund.merging(mistaken) { $1 }
        let error = "ErroneousLineItemReferencedByValidLineItemError"
        try await report([buy], in: world)
        #expect(
            try await plan([wrongBuy, refund], in: world) == [error, "ValidLineItemReferencesErroneousLineItemError"]
        )
        try await report([refund], in: world)
        #expect(try await plan([wrongBuy], in: world) == [error])
        #expect(try await plan([wrongBuy, wrongRefund], in: world) == ["valid", "valid"])
        try await report([wrongRefund], in: world)
        #expect(try await plan([wrongBuy], in: world) == ["valid"])
    }

    private func value(of interval: String, in world: TestLedger) async throws -> String {
        try #require(try await world.value(Self.moment(interval)))
    }

    @Test func `EP18 a plan shows the request ID that the corrected report will have`() async throws {
        let world = try await TestLedger()
        try await plan([buy("t1", "a")], in: world)
        let refused = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        try await world.run(
            """
            UPDATE action_batches SET approval_required = false, started_at = now(), finished_at = now();
            UPDATE action_rows SET state = 'rejected', ended_at = now(), first_sent_at = now(), request_id = '\(refused)'
            """
        )
        let actions = try actions(query([buy("t1", "b"), buy("t2", "c")]), in: world)
        let batch = try await actions.plan(try BatchSource(actions.job.input))
        let bodies = try await actions.summary(of: batch).requests.map {
            String(decoding: $0.body ?? [], as: UTF8.self)
        }
        #expect(bodies.count == 2)
        #expect(bodies[0].contains(refused) && !bodies[1].contains(refused), "\(bodies)")
    }

    @Test func `a token gets no report while the outcome of an earlier one is unknown, so that none overtakes another`()
        async throws
    {
        let world = try await TestLedger()
        try await plan([buy("t1", "a")], in: world)
        try await world.run(
            """
            UPDATE action_batches SET approval_required = false, started_at = now();
            UPDATE action_rows SET state = 'unknown', may_be_applied = true, first_sent_at = now(), request_id = gen_random_uuid()
            """
        )
        let found = try await plan([buy("t1", "b"), buy("t2", "c")], in: world)
        #expect(found == ["earlier_report_unknown", "valid"])
    }

    @Test func `an erasure removes a customer's IDs from further columns of the input`() async throws {
        let world = try await TestLedger()
        let customer = "2000000123456789"
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), '\(customer)', '\(customer)', now(), 'x', '{}')
            """
        )
        let actions = try actions("SELECT *, '\(customer)' AS note FROM (\(query([buy("t1", "a")]))) q", in: world)
        _ = try await actions.plan(try BatchSource(actions.job.input))
        let known = "action_input_rows WHERE '\(customer)' = ANY (input)"
        #expect(try await world.count(known) == 1)
        _ = try await world.ledger.erase([.transaction(customer)], in: [world.app])
        #expect(try await world.count(known) == 0)
        #expect(try await world.count("action_input_rows WHERE cardinality(input) = 24") == 1)
    }

    @Test func `no line is added to a report that is planned`() async throws {
        let world = try await TestLedger()
        try await plan([buy("t1", "a")], in: world)
        await #expect(throws: PostgresError.self) {
            try await world.run(
                """
                INSERT INTO action_input_rows (app_id, batch_id, input_position, position, input, line_item_id)
                SELECT app_id, batch_id, 2, position, '{}', 'b' FROM action_input_rows
                """
            )
        }
    }

    @Test func `EP12 tokens of the sandbox are reported in the sandbox`() async throws {
        let world = try await TestLedger()
        let rows = [without("SANDBOX_1"), without("1")]
        #expect(try await plan(rows, in: world) == ["sandbox_token", "valid"])
        #expect(try await plan(rows, in: world, environment: "Sandbox") == ["valid", "production_token"])
    }

    @Test func `EP13 one bad line of 10,000 keeps back its report only, and each line says why`() async throws {
        let world = try await TestLedger()
        let row = buy("t1", "", ["line_item_id": "'l' || n", "tax_amount": "CASE n WHEN 7000 THEN 1 ELSE 2000 END"])
        let cells = Self.columns.map { "(\(row[$0] ?? "NULL"))::text AS \($0)" }.joined(separator: ", ")
        // The second report has more than 4 MiB.
        let token = "CASE WHEN n > 10000 THEN 't2' ELSE 't1' END"
        let query = "SELECT \(cells.replacing("('t1')", with: "(\(token))")) FROM generate_series(1, 22000) n"
        let actions = try actions(query, in: world)
        let summary = try await actions.summary(of: try await actions.plan(try BatchSource(actions.job.input)))
        #expect(summary.inputRows == 22_000 && summary.batch.rows == 2 && summary.batch.rowsToSend == 1)
        #expect(summary.requests.count == 1)
        #expect(try await world.count("action_rows WHERE octet_length(parameters::text) > 4 * 1024 * 1024") == 1)
        #expect(
            summary.rules.map { "\($0.verdict) \($0.rule) \($0.rows)" } == [
                "invalid IncorrectAmountTaxInclusiveError 1"
            ]
        )
        #expect(
            try await world.count(
                "action_input_rows WHERE reason LIKE 'its report is not sent, because of row 7000: %'"
            ) == 9_999
        )
        let own = "amount_tax_inclusive is 12000; it must be amount_tax_exclusive + tax_amount, 10000 + 1 (Apple's 11)"
        #expect(try await world.count("action_input_rows WHERE reason = '\(own.replacing("'", with: "''"))'") == 1)
    }

    @Test func `EP14 each line of a refused report has its own errors or says that another line was refused`()
        async throws
    {
        let world = try await TestLedger()
        try await plan([buy("t1", "a"), buy("t1", "b"), buy("t2", "c")], in: world)
        try await world.run(
            """
            UPDATE action_rows SET state = 'rejected', ended_at = now(), apple_code = 12, apple_message = 'net (line item b)',
                   answer = '{"errors": [{"errorCode": 12, "errorMessage": "net", "fieldName": "netAmountTaxExclusive", "lineItemId": "b"}]}'
             WHERE subject = 't1';
            UPDATE action_rows SET state = 'rejected', ended_at = now(), apple_code = 3,
                   answer = '{"errors": [{"errorCode": 3, "errorMessage": "none", "fieldName": "externalPurchaseId"}]}' WHERE subject = 't2'
            """
        )
        let actions = try actions("SELECT 1", in: world)
        let batch = try #require(try await actions.batches().first)
        let rows = try await world.ledger.transaction { connection in
            try actions.resultRows(of: .rejected, in: batch, after: 0, on: connection)
        }
        let texts = rows.map { "\($0.position) \($0.appleCode ?? 0) \($0.appleMessage ?? ""): \($0.reason)" }
        #expect(
            texts == [
                "1 0 : Apple refused the report because of other lines: net (line item b)",
                "2 12 net (netAmountTaxExclusive): Apple refused it: IncorrectNetAmountError",
                "3 3 none (externalPurchaseId): Apple refused it: NotFoundError",
            ]
        )
    }

    @Test func `EP19 JSON reports are planned like CSV rows, and an unreadable line holds back only its token`()
        async throws
    {
        let line = """
            {"lineItemId":"ID","creationDate":MOMENT,"eventType":"BUY","productType":"ONE_TIME_BUY","productIdentifier":"coins","quantity":1,\
            "amountTaxInclusive":12000,"amountTaxExclusive":10000,"taxAmount":2000,"netAmountTaxExclusive":10000,"reportingCurrency":"EUR",\
            "pricingCurrency":"EUR","taxCountry":"FRA","exchangeRate":null}
            """
        let world = try await TestLedger()
        let moment = try await value(of: "-10 days", in: world)
        let lines = ["a", "b"].map {
            line.replacing("ID\"", with: "\($0)\"", maxReplacements: 1).replacing("MOMENT", with: moment)
        }
        let text = """
            {"externalPurchaseId":"t1","status":"LINE_ITEM","lineItems":[\(lines.joined(separator: ","))]}
            {"externalPurchaseId":"t2","status":"NO_LINE_ITEM"}

            {"externalPurchaseId":"t3","status":"LINE_ITEM","lineItems":[{"lineItemId":"c","lineItems":[]}]}
            {"externalPurchaseId":"t4","requestIdentifier":"x","status":"NO_LINE_ITEM"}
            {"externalPurchaseId":"t5","status":"LINE_ITEM","lineItems":[]}
            ["t6"]
            {"externalPurchaseId":"t8","status":"NO_LINE_ITEM"}\r
            \r
            {"externalPurchaseId":"t8","status":"LINE_ITEM","lineItems":{}}
            {"externalPurchaseId":"t7",
            """
        try await withTemporaryDirectory { directory in
            let path = directory + "/reports.jsonl"
            try Data("\u{FEFF}\(text)".utf8).write(to: URL(filePath: path))
            let actions = try actions(input: "json: {path: \(path)}", in: world)
            let check = try #require(actions.job.inputFileCheck)
            #expect(try check() == "\(path) has 10 rows, 6 of them invalid")
            _ = try await actions.plan(try BatchSource(actions.job.input))
        }
        let rows = try await texts(
            """
            SELECT concat_ws(' ', i.line, coalesce(i.rule, r.verdict), r.parameters ->> 'external_purchase_id', i.reason)
              FROM action_input_rows i JOIN action_rows r USING (app_id, batch_id, position) ORDER BY i.input_position
            """,
            in: world
        )
        #expect(
            rows == [
                "1 valid t1", "1 valid t1", "2 valid t2",
                "4 unreadable_report lineItems of line item 1 is not a member that Apple documents",
                "5 unreadable_report requestIdentifier must not be given: the plan makes it",
                "6 unreadable_report lineItems must be a list of at least one line item",
                "7 unreadable_report reading JSON found text RFC 8259 does not allow here, at byte 0",
                "8 unreadable_report its report is not sent, because of row 9: lineItems must be a list of at least one line item",
                "10 unreadable_report lineItems must be a list of at least one line item",
                "11 unreadable_report reading JSON found text RFC 8259 does not allow here, at byte 27",
            ]
        )
        let planned = try await texts("SELECT parameters FROM action_rows WHERE subject = 't1'", in: world)
        let same = ["a", "b"].map { buy("t1", $0, ["creation_date": moment]) }
        try await plan(same, in: world)
        #expect(try await texts("SELECT parameters FROM action_rows WHERE subject = 't1'", in: world) == planned)
    }

    @Test func `EP16 a report with a row of an erased customer is not sent, and none of its rows is kept`() async throws
    {
        let world = try await TestLedger()
        let customer = "2000000123456789"
        try await world.run(
            """
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, signed_date, payload_sha256, payload)
            VALUES (\(world.app.rawValue), '\(customer)', '\(customer)', now(), 'x', '{}')
            """
        )
        _ = try await world.ledger.erase([.transaction(customer)], in: [world.app])
        let named = ["product_identifier": "'\(customer)'"]
        #expect(
            try await plan([buy("t1", "a"), buy("t1", "b", named), buy("t2", "c")], in: world) == [
                "erased", "erased", "valid",
            ]
        )
        let kept =
            "SELECT cardinality(input) || ' ' || coalesce(line_item_id, '-') FROM action_input_rows ORDER BY input_position"
        #expect(try await texts(kept, in: world) == ["0 -", "0 -", "23 c"])
        #expect(
            try await world.count("action_rows WHERE verdict = 'ineligible' AND subject IS NULL AND parameters IS NULL")
                == 1
        )
    }

    @Test func `tokens have a deadline until they are reported, and lines have their newest version`() async throws {
        let world = try await TestLedger()
        try await addToken("typed", type: "SERVICES", created: "'2026-01-05Z'", expires: "'2026-01-20Z'", in: world)
        try await addToken("long", type: "SERVICES", created: "'2026-01-05Z'", expires: "'2027-01-20Z'", in: world)
        try await addToken("plain", type: nil, created: "'2026-01-05Z'", in: world)
        try await addToken("late", type: nil, created: "'2026-01-30Z'", in: world)
        try await addToken("new", type: nil, created: "'2099-01-01Z'", in: world)
        try await addToken("done", type: nil, created: "'2026-01-05Z'", in: world)
        let date = try #require(try await world.value(Self.moment("-10 days")))
        try await report([buy("done", "a", ["creation_date": date]), without("other")], in: world)
        let restated = [
            "creation_date": date, "restatement": "true", "amount_tax_inclusive": "1200",
            "amount_tax_exclusive": "1000", "tax_amount": "200", "net_amount_tax_exclusive": "1000",
        ]
        try await report([buy("done", "a", restated)], in: world)
        let tokens = try await texts(
            """
            SELECT external_purchase_id || ' ' || state || ' ' || reports || ' ' || coalesce(to_char(report_by AT TIME ZONE 'UTC', 'MM-DD'), '-')
              FROM external_purchase_tokens ORDER BY 1
            """,
            in: world
        )
        #expect(
            tokens == [
                "done LINE_ITEM 2 01-15", "late UNREPORTED 0 02-01", "long UNREPORTED 0 02-01",
                "new UNREPORTED 0 01-11",
                "other NO_LINE_ITEM 1 -", "plain UNREPORTED 0 01-15", "typed UNREPORTED 0 01-20",
            ]
        )
        let lines =
            "SELECT line_item_id || ' ' || amount_tax_inclusive || ' ' || is_restatement FROM external_purchase_report_lines"
        #expect(try await texts(lines, in: world) == ["a 1.200 true"])
        let month = try #require(
            try await world.value("date_trunc('month', (now() - interval '10 days') AT TIME ZONE 'UTC')::date")
        )
        let months =
            "SELECT month || ' ' || reporting_currency || ' ' || event_type || ' ' || lines || ' ' || amount_tax_inclusive FROM external_purchases_by_month"
        #expect(try await texts(months, in: world) == ["\(month) EUR BUY 1 1.200"])
        let status = try await world.ledger.status(
            of: "n",
            app: world.app,
            bundleId: "com.example.game",
            environment: "Production"
        )
        #expect(status.externalPurchases?.tokensDue == 4)
        #expect(status.externalPurchases?.reportBy == "2026-01-15T00:00:00Z")
        #expect(
            status.lines.contains {
                $0.contains("external purchases: 4 tokens without a report, the first due by 2026-01-15T00:00:00Z")
            }
        )
    }
}
