import AppStoreModel
import FoundationEssentials
import Hashing
import JobSyntax
import SignedData
import TestSupport
import Testing

@testable import Planning

/// Which columns of a file are read, and what its receipts give.
struct IDFileTests {
    private static func old(_ id: String?, of bundleId: String = "com.example.game") -> String {
        let receipt = AppReceiptBuilder.oldReceipt(
            bundleId: bundleId,
            transactionId: id,
            encode: Base64.encodeStandard
        )
        return String(decoding: Base64.encodeStandard(receipt), as: UTF8.self)
    }

    /// The IDs of a file in their order, and the sentences about the rows without one.
    private func read(_ text: String, column: String? = nil) async throws -> (ids: [String], leftOut: [String]) {
        try await withTemporaryDirectory { directory in
            let path = directory + "/list.csv"
            try Data(text.utf8).write(to: URL(filePath: path))
            let file = IDFile(path: path, column: column, kind: .transaction, bundleId: "com.example.game")
            var ids: [String] = []
            let skipped = try file.read { ids += $0 }
            return (ids, skipped.sentences)
        }
    }

    @Test func `a row gives the first of its ID, receipt and token that is there`() async throws {
        let token = try CertificateAuthority(from: .init(rawValue: 0), to: .init(rawValue: 2_000_000_000_000)).issuer
            .sign(payload: Array(#"{"transactionId":"430000000000003"}"#.utf8))
        let text = """
            name,id,token,receipt
            a,430000000000001,,x
            b,,,\(Self.old("430000000000002"))
            c,,\(token),
            """
        let expected = ["430000000000001", "430000000000002", "430000000000003"]
        #expect(try await read(text).ids == expected)
        #expect(try await read(text).leftOut == [])
    }

    @Test(arguments: [
        ("transaction_id,id,name", "1", "first"), ("id,transaction_id,name", "1", "first"),
        ("name,other,id", "3", "named id"), ("transaction_id,id,receipt", "1", "first with something"),
    ])
    func `without a column in the job, known names choose it, or else it is the first`(
        header: String,
        id: String,
        why: String
    ) async throws {
        #expect(try await read("\(header)\n1,2,3\n").ids == [id], "\(why)")
    }

    @Test(arguments: ["9f4b2c1e-6f0e-4a9d-8c53-0d7a5b1f2e3c", "c3RvcmVsZWRnZXI=", "17"])
    func `C31 a column named token with anything but receipts does not change which column is read`(token: String)
        async throws
    {
        for header in ["transaction_id,token,note", "customer,token,note", "customer,token,id"] {
            let found = try await read("\(header)\n430000000000001,\(token),430000000000001\n")
            #expect(found.ids == ["430000000000001"] && found.leftOut == [], "\(header)")
        }
    }

    @Test func `rows without a token say nothing of the column`() async throws {
        let text = "customer,token\n" + String(repeating: "a,\n", count: 150) + "a,\(Self.old("430000000000002"))\n"
        #expect(try await read(text).ids == ["430000000000002"])
    }

    @Test(arguments: ["receipt", "token"])
    func `an ID in a column of receipts is an ID`(name: String) async throws {
        let text = "name,\(name)\na,430000000000001\nb,\(Self.old("430000000000002"))\n"
        #expect(try await read(text).ids == ["430000000000001", "430000000000002"])
        #expect(try await read(text, column: name).ids == ["430000000000001", "430000000000002"])
    }

    @Test func `the job's column says whether its cells are IDs or receipts`() async throws {
        let text = "id,receipt\n1,\(Self.old("430000000000002"))\n"
        #expect(try await read(text, column: "id").ids == ["1"])
        #expect(try await read(text, column: "receipt").ids == ["430000000000002"])
    }

    @Test func `C25 C26 C27 C28 C29 receipts without an ID are counted with their lines, by reason`() async throws {
        let other = Self.old("1", of: "com.example.other")
        let rows = (["430000000000002"] + [nil, nil]).map { Self.old($0) } + [other, "MI", "\"\""]
        let found = try await read("receipt\n" + rows.joined(separator: "\n") + "\n" + other + "\n")
        #expect(found.ids == ["430000000000002"])
        #expect(
            found.leftOut == [
                "1 row without a receipt is left out (line 7)",
                "2 rows with a receipt of another app are left out (lines 5, 8)",
                "2 rows with a receipt without a transaction ID are left out (lines 3, 4); a run ends with 2",
                "1 row with a damaged receipt is left out (line 6); a run ends with 2",
            ]
        )
        let many = try await read("receipt\n" + String(repeating: "MI\n", count: 12)).leftOut
        #expect(
            many == [
                "12 rows with a damaged receipt are left out (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and others); a run ends with 2"
            ]
        )
    }

    @Test func `C30 a receipt of five megabytes is read, and a cell of more than eight refuses the list`() async throws
    {
        let large = AppReceiptBuilder(
            bundleId: "com.example.game",
            environment: "Production",
            purchases: [.init("2", original: "430000000000002")],
            padding: 5 << 20
        )
        let authority = try CertificateAuthority(from: .init(rawValue: 0), to: .init(rawValue: 2_000_000_000_000))
        let text = String(decoding: Base64.encodeStandard(try large.der(signedBy: authority)), as: UTF8.self)
        #expect(try await read("receipt\n\(text)\n").ids == ["430000000000002"])
        let error = await #expect(throws: ListError.self) {
            try await read("receipt\nMI\n" + String(repeating: "M", count: 9 << 20))
        }
        #expect(error?.description.hasSuffix("list.csv:3: a cell has more than 8388608 bytes.") == true)
    }

    @Test func `a row that is no ID refuses a list with receipts too, and a receipt says its column`() async throws {
        let mixed = await #expect(throws: ListError.self) { try await read("id,receipt\nx,\n") }
        #expect(mixed?.description.contains(#"list.csv:2: "x" is not a transaction ID"#) == true)
        let wrong = await #expect(throws: ListError.self) { try await read("user\n\(Self.old("1"))\n") }
        #expect(wrong?.description.contains("if it is a receipt, call the column receipt") == true)
    }
}
