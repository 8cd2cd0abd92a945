import CSVFormat
import JobFiles
import Testing

@testable import Actions

/// How the cells of an input become normalised values.
struct InputHeaderTests {
    private func header(_ names: [String], of job: ActionJob) throws -> InputHeader {
        try InputHeader(names, of: "affected.csv", for: job)
    }

    private func json(_ row: InputRow) -> String? { row.parameters.map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func `defaults of the job file fill what the input leaves out, and a cell wins over them`() throws {
        let job = try TestJob.of()
        let short = try header(["original_transaction_id"], of: job)
        #expect(
            json(short.row(1, line: 2, ["2000000123456789"]))
                == #"{"original_transaction_id":"2000000123456789","extend_by_days":7,"extend_reason_code":3}"#
        )
        let long = try header(["extend_by_days", "note", "original_transaction_id"], of: job)
        let row = long.row(1, line: 2, ["14", "VIP", "5"])
        #expect(json(row) == #"{"original_transaction_id":"5","extend_by_days":14,"extend_reason_code":3}"#)
        #expect(row.input == ["14", "VIP", "5"] && row.subject == "5")
        #expect(json(long.row(2, line: 3, ["", "", "5"]))?.contains(#""extend_by_days":7"#) == true)
    }

    @Test func `the outcomes of an earlier batch are left out of the kept columns`() throws {
        let job = try TestJob.of()
        let header = try header(["note", "original_transaction_id", "outcome", "outcome_apple_code"], of: job)
        #expect(header.columns == ["note", "original_transaction_id"])
        #expect(header.row(1, line: 2, ["a", "5", "rejected", "4030005"]).input == ["a", "5"])
    }

    @Test func `an invalid row names its rule, and keeps its subject for an erasure`() throws {
        let job = try TestJob.of()
        let header = try header(["original_transaction_id", "extend_by_days"], of: job)
        let row = header.row(3, line: 4, ["5", "0"])
        #expect(row.parameters == nil && row.subject == "5")
        #expect(row.problem?.rule == "extend_by_days")
        #expect(row.problem?.reason == "extend_by_days is 0; it must be a whole number from 1 to 90")
        #expect(header.row(4, line: 5, ["x5", "1"]).subject == nil)
        #expect(header.row(5, line: 6, ["5", "1", "", ""]).problem == nil)
        #expect(header.row(6, line: 7, ["5", "1", "", "x"]).problem?.reason == "the row has 4 cells, the header has 2")
        // A control character in a value never reaches a terminal.
        #expect(
            header.row(7, line: 8, ["5", "\u{1B}[2J"]).problem?.reason.hasPrefix("extend_by_days is ?[2J;") == true
        )
    }

    @Test func `values are normalised, so that one meaning has one hash`() throws {
        let tokens = try header(
            ["original_transaction_id", "app_account_token"],
            of: try TestJob.of("setAppAccountToken: {}")
        )
        let upper = tokens.row(1, line: nil, ["5", "7E3FB20B-4CDB-47CC-936D-99D65F608138"])
        #expect(json(upper)?.contains("7e3fb20b-4cdb-47cc-936d-99d65f608138") == true)
        let all = try header(
            ["product_id", "storefront_country_codes"],
            of: try TestJob.of("extendRenewalDatesForAll: {extendByDays: 1, extendReasonCode: 0}")
        )
        let codes = ["usa FRA USA", "FRA USA", "FRA  usa"].map { json(all.row(1, line: nil, ["plus", $0])) }
        #expect(Set(codes).count == 1)
        #expect(codes[0]?.contains(#""storefront_country_codes":["FRA","USA"]"#) == true)
    }

    @Test func `a column that occurs twice, is missing, or is nearly one of the action's is refused`() throws {
        let job = try TestJob.of("extendRenewalDate: {extendByDays: 7}")
        #expect(throws: ActionInputError.self) {
            try header(["original_transaction_id", "original_transaction_id"], of: job)
        }
        for (names, sentence) in [
            (
                ["original_transaction_id"],
                "affected.csv: there is no column \"extend_reason_code\", and the job file has no action.extendRenewalDate.extendReasonCode; add one of the two. Nothing was planned"
            ),
            (
                ["id", "extend_reason_code"],
                "affected.csv: there is no column \"original_transaction_id\"; the header has \"id\", \"extend_reason_code\". Nothing was planned"
            ),
            (
                ["original_transaction_id", "extend_reasoncode"],
                "affected.csv: the column \"extend_reasoncode\" does not belong to this action; did you mean \"extend_reason_code\"? Nothing was planned"
            ),
        ] {
            let error = #expect(throws: ActionInputError.self) { try header(names, of: job) }
            #expect(error?.sentence == sentence)
        }
    }
}
