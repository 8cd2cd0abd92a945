import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Reports of external purchases: what Apple takes, and each error that its state can show.
struct ExternalPurchaseTests {
    private static let path = "/externalPurchase/v1/reports"

    /// A store with tokens of each type.
    private struct Scene {
        let store: TestStore
        /// The tokens by type; the type is empty for one without.
        let tokens: [String: SimulatedPurchaseToken]
        private static let ids = (1...9).map { "00000000-0000-4000-8000-00000000000\($0)" }

        func line(_ id: String, _ changes: [String: String?] = [:], daysAgo: Int64 = 0) -> String {
            let date = store.clock.now.rawValue - daysAgo * Moment.day
            let members: [String: String?] = [
                "lineItemId": "\"\(id)\"", "creationDate": "\(date)", "eventType": "\"BUY\"",
                "productType": "\"ONE_TIME_BUY\"",
                "productIdentifier": "\"coins\"", "quantity": "1", "amountTaxInclusive": "12000",
                "amountTaxExclusive": "10000", "taxAmount": "2000", "netAmountTaxExclusive": "10000",
                "reportingCurrency": "\"EUR\"", "pricingCurrency": "\"EUR\"", "taxCountry": "\"FRA\"",
            ].merging(changes) { $1 }
            let texts = members.sorted { $0.key < $1.key }.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }
            return "{\(texts.joined(separator: ","))}"
        }

        func refund(_ id: String, of bought: String, _ changes: [String: String?] = [:]) -> String {
            let members: [String: String?] = [
                "eventType": "\"REFUND\"", "productType": nil, "productIdentifier": nil, "quantity": nil,
                "amountTaxInclusive": "2400", "amountTaxExclusive": "2000", "taxAmount": "400",
                "netAmountTaxExclusive": "8000", "referenceLineItemId": "\"\(bought)\"",
            ]
            return line(id, members.merging(changes) { $1 })
        }

        func body(_ number: Int, _ token: String, _ status: String = "LINE_ITEM", _ lines: [String]? = nil) -> String {
            let items = lines.map { ",\"lineItems\":[\($0.joined(separator: ","))]" } ?? ""
            return
                "{\"requestIdentifier\":\"\(Self.ids[number - 1])\",\"externalPurchaseId\":\"\(token)\",\"status\":\"\(status)\"\(items)}"
        }

        /// The errors of an answer as `code field line`; empty for 200.
        func errors(_ body: String) async throws -> [String] {
            let answer = try await store.put(ExternalPurchaseTests.path, body: body)
            if answer.status == 200 { return [] }
            #expect(answer.status == 400)
            return (ExternalPurchaseErrors(answer.body)?.elements ?? []).map { element in
                "\(element.code) \(element.field ?? "-") \(element.lineItemID ?? "-")"
            }
        }

        func get(_ number: Int) async throws -> ServerAnswer {
            try await store.get("\(ExternalPurchaseTests.path)/\(Self.ids[number - 1].uppercased())")
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await TestStore.run(customers: 2) { store in
            _ = try await store.post("/simulator/advance", body: "{\"externalPurchaseTokens\":4}")
            var tokens: [String: SimulatedPurchaseToken] = [:]
            for payload in try await store.world("notification").values.compactMap(\.object) {
                guard let token = payload["externalPurchaseToken"]?.object,
                    let id = token["externalPurchaseId"]?.string,
                    let creation = token["tokenCreationDate"]?.number?.int64
                else { continue }
                let type = token["tokenType"]?.string
                let expiration = token["tokenExpirationDate"]?.number?.int64
                tokens[type ?? ""] = SimulatedPurchaseToken(
                    id: id,
                    type: type,
                    creationDate: creation,
                    expirationDate: expiration
                )
            }
            #expect(Set(tokens.keys) == ["", "ACQUISITION", "SERVICES"])
            store.clock.advance(by: .seconds(3_600))
            try await body(Scene(store: store, tokens: tokens))
        }
    }

    @Test func `a report is taken once, as a whole, and can be read`() async throws {
        try await withScene { scene in
            let token = try #require(scene.tokens[""]).id
            let body = scene.body(1, token, "LINE_ITEM", [scene.line("a"), scene.line("b", ["taxAmount": "1"])])
            #expect(try await scene.errors(body) == ["11 amountTaxInclusive b"])
            let missing = try await scene.get(1)
            #expect(missing.status == 400)
            #expect(ExternalPurchaseErrors(missing.body)?.elements.map(\.code) == [3])
            // Apple took no line, so the same ID and the same line are sent again.
            let mended = scene.body(1, token, "LINE_ITEM", [scene.line("a")])
            #expect(try await scene.errors(mended) == [])
            #expect(try await scene.errors(mended) == ["1 requestIdentifier -"])
            let taken = try #require(try await scene.get(1).json["report"])
            #expect(taken == (try StrictJSON.parse(Array(mended.utf8))))
            #expect(try await scene.store.actions.map { [$0.moment("requested"), $0.moment("applied")] } == [[2, 1]])
            #expect(try await scene.errors(scene.body(2, token, "LINE_ITEM", [scene.line("a")])) == ["1 lineItemId a"])
        }
    }

    @Test func `a status fits the token and its lines`() async throws {
        try await withScene { scene in
            let (plain, services) = (try #require(scene.tokens[""]).id, try #require(scene.tokens["SERVICES"]).id)
            #expect(try await scene.errors(scene.body(1, "unknown", "NO_LINE_ITEM")) == ["3 externalPurchaseId -"])
            #expect(try await scene.errors(scene.body(1, plain)) == ["9 status -"])
            #expect(try await scene.errors(scene.body(1, plain, "NO_LINE_ITEM", [scene.line("a")])) == ["10 status -"])
            #expect(try await scene.errors(scene.body(1, plain, "DUPLICATE_TOKEN")) == ["37 status -"])
            #expect(try await scene.errors(scene.body(1, services, "DUPLICATE_TOKEN")) == [])
            #expect(try await scene.errors(scene.body(2, plain, "NO_LINE_ITEM")) == [])
            #expect(try await scene.errors(scene.body(3, plain, "LINE_ITEM", [scene.line("a")])) == [])
            #expect(try await scene.errors(scene.body(4, plain, "UNRECOGNIZED_TOKEN")) == ["8 status -"])
            #expect(
                try await scene.errors("{\"requestIdentifier\":\"\(plain)\"}") == [
                    "4 externalPurchaseId -", "4 status -",
                ]
            )
            for body in ["[]", scene.body(5, plain, "SOLD"), scene.body(5, plain, "LINE_ITEM", ["{\"tip\":1}"])] {
                #expect(try await scene.store.put(Self.path, body: body).errorCode == 4_000_000)
            }
        }
    }

    @Test func `each line has its errors`() async throws {
        try await withScene { scene in
            let token = try #require(scene.tokens[""]).id
            let year = 365
            let cases: [(String, String)] = [
                (scene.line("a", ["quantity": nil]), "4 quantity a"),
                (scene.line("a", ["subscriptionEvent": "\"RENEWAL\""]), "5 subscriptionEvent a"),
                (scene.line("a", daysAgo: -1), "6 creationDate a"),
                (scene.line("a", ["reportingCurrency": "\"XAU\""]), "7 reportingCurrency a"),
                (scene.line("a", ["taxCountry": "\"FR\""]), "7 taxCountry a"),
                (scene.line("a", ["netAmountTaxExclusive": "10001"]), "12 netAmountTaxExclusive a"),
                (scene.refund("a", of: "a"), "13 referenceLineItemId a"),
                (scene.refund("a", of: "z"), "3 referenceLineItemId a"),
                (scene.line("a", ["taxAmount": "-2000", "amountTaxInclusive": "8000"]), "15 taxAmount a"),
                (scene.line("a", ["quantity": "0"]), "16 quantity a"),
                (scene.line("a", ["pricingCurrency": "\"USD\""]), "18 reportingCurrency a"),
                (scene.line("a", ["pricingCurrency": "\"ISK\""]), "4 exchangeRate a"),
                (scene.line("a", ["exchangeRate": "1"]), "5 exchangeRate a"),
                (
                    scene.line("a", ["productIdentifier": "\"\(String(repeating: "p", count: 257))\""]),
                    "19 productIdentifier a"
                ),
                (scene.line("a", ["erroneouslySubmitted": "true"]), "20 erroneouslySubmitted a"),
                (scene.line("a", ["restatement": "true"]), "3 lineItemId a"),
                (scene.line("a", daysAgo: 30), "36 creationDate a"),
                (scene.line("a", daysAgo: Int64(3 * year + 1)), "27 creationDate a, 36 creationDate a"),
            ]
            for (line, expected) in cases {
                let found = try await scene.errors(scene.body(1, token, "LINE_ITEM", [line]))
                #expect(found.joined(separator: ", ") == expected)
            }
        }
    }

    @Test func `a line fits the lines that Apple has`() async throws {
        try await withScene { scene in
            let token = try #require(scene.tokens[""]).id
            func errors(_ number: Int, _ lines: String...) async throws -> [String] {
                try await scene.errors(scene.body(number, token, "LINE_ITEM", lines))
            }
            let start: [String: String?] = [
                "productType": "\"SUBSCRIPTION\"", "subscriptionEvent": "\"SUBSCRIPTION_START\"",
                "subscriptionStartDate": "\(scene.store.clock.now.rawValue)",
                "subscriptionEndDate": "\(scene.store.clock.now.rawValue + 1)", "subscriptionDaysOfPaidService": "0",
            ]
            func renewal(of id: String) -> [String: String?] {
                start.merging(["subscriptionEvent": "\"RENEWAL\"", "referenceLineItemId": "\"\(id)\""]) { $1 }
            }
            #expect(try await errors(1, scene.line("a"), scene.refund("r", of: "a"), scene.line("s", start)) == [])
            #expect(try await errors(2, scene.line("n", renewal(of: "s"))) == [])
            let cases: [(String, String)] = [
                (scene.refund("x", of: "a"), "12 netAmountTaxExclusive x"),
                (
                    scene.refund("x", of: "a", ["netAmountTaxExclusive": "6000", "taxCountry": "\"DEU\""]),
                    "23 taxCountry x"
                ),
                (
                    scene.refund(
                        "x",
                        of: "a",
                        ["netAmountTaxExclusive": "6000", "reportingCurrency": "\"USD\"", "pricingCurrency": "\"USD\""]
                    ),
                    "2 reportingCurrency x, 32 pricingCurrency x"
                ),
                (scene.refund("x", of: "r"), "28 lineItemId x"),
                (scene.line("x", renewal(of: "r")), "21 referenceLineItemId x"),
                (scene.line("x", renewal(of: "a")), "14 referenceLineItemId x"),
                (scene.line("x", renewal(of: "n")), "29 lineItemId x"),
                (scene.line("a", ["restatement": "true"], daysAgo: 1), "38 creationDate a"),
                (
                    scene.line("a", ["restatement": "true", "erroneouslySubmitted": "true"]),
                    "22 erroneouslySubmitted a"
                ),
                (
                    scene.line("x", start.merging(["subscriptionDaysOfPaidService": "1"]) { $1 }),
                    "34 subscriptionDaysOfPaidService x"
                ),
                (
                    scene.line("x", start.merging(["subscriptionStartDate": "\(Int64.max)"]) { $1 }),
                    "17 subscriptionEndDate x"
                ),
            ]
            for (line, expected) in cases {
                #expect(try await errors(3, line).joined(separator: ", ") == expected)
            }
            let mistaken: [String: String?] = ["restatement": "true", "erroneouslySubmitted": "true"]
            #expect(try await errors(3, scene.line("n", renewal(of: "s").merging(mistaken) { $1 })) == [])
            #expect(
                try await errors(4, scene.line("n", renewal(of: "s").merging(mistaken) { $1 })) == [
                    "30 erroneouslySubmitted n"
                ]
            )
            #expect(try await errors(4, scene.line("a", ["restatement": "true", "quantity": "2"])) == [])
        }
    }
}
