import FoundationEssentials
import JobFiles
import LedgerSchema
import Postgres
import Publish
import TestSupport
import Testing

@Suite(.migratedDatabase)
struct PublishParquetTests {
    @Test(
        .enabled("python3, pyarrow or duckdb is not installed; .ci/run installs them if it can") {
            await PythonScript.canImport("duckdb", "pyarrow")
        }
    )
    func `a Parquet file has the cells of the CSV file`() async throws {
        let world = try await TestLedger()
        var rows = Rows.fullPage()
        rows.snapshots.append(
            Rows.snapshot(
                Tables.transactions,
                "10",
                cells: [
                    "product_id": .text("=1+1"), "offer_identifier": .text(""), "currency": .text("E\"U,R\r\n"),
                    "is_upgraded": .boolean(false), "quantity": .integer(.min), "price_milliunits": .bigint(.max),
                    "purchase_date": .timestamp(1_500), "expires_date": .timestamp(-1),
                    "original_purchase_date": .timestamp(-62_135_596_800_000),
                    "signed_date": .timestamp(253_402_300_799_999),
                    "app_account_token": .uuid([UInt8](repeating: 0xAB, count: 16)),
                ]
            )
        )
        rows.snapshots.append(
            Rows.snapshot(
                Tables.renewals,
                "10",
                cells: ["eligible_win_back_offer_ids": .textArray(["a", "b c", "", "{\"\\"])]
            )
        )
        var (items, holder) = try await world.leased(["1"])
        try await world.commit(rows, of: &items[0], for: holder)
        try await withTemporaryDirectory { directory in
            var counts: [[Int]] = []
            for format in FileFormat.allCases {
                let files = FileOutput(format, directory: "\(directory)/\(format)", tables: FileOutput.knownTables)
                let order = PublishOrder(files, job: "nightly-sync", run: 7, trustedRoots: ["ab"])
                let manifest = try await world.ledger.publish(order, of: world.app)
                #expect(manifest.files.map(\.file) == files.tables.map { "\($0).\(format)" })
                counts.append(manifest.files.map(\.rows))
            }
            #expect(counts[0] == counts[1])
            let cells = try await PythonScript.run(
                "ParquetReaders/compare.py",
                "\(directory)/csv",
                "\(directory)/parquet"
            )
            #expect(Int(cells.dropLast()) ?? 0 > 1_000, "\(cells)")
        }
    }
}
