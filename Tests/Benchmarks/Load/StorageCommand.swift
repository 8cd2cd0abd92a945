import AppStoreSimulator
import ArgumentParser
import Ledger
import Postgres

/// What a transaction takes on disk.
struct StorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Bytes on disk of a transaction: its row, its indexes, the archive, and each JWS stored whole."
    )

    @OptionGroup var world: WorldOptions
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    func run() async throws {
        try ReleaseBuild.require()
        let rows = try ReadyRows(try world.world())
        try await database.withDatabase { database in
            try await SeededLedger(rows: rows).fill(database)
            try await storeWhole(rows, in: database)
            let count = Double(rows.world.count)
            func size(_ function: String, _ tables: String...) async throws -> Double {
                let sum = tables.map { "\(function)('appstore.\($0)')" }.joined(separator: " + ")
                return try await database.number(sum) / count
            }
            let table = try await size("pg_table_size", "transactions")
            let indexes = try await size("pg_indexes_size", "transactions")
            let archive = try await size("pg_total_relation_size", "signed_payloads", "signing_headers")
            let archiveIndexes = try await size("pg_indexes_size", "signed_payloads", "signing_headers")
            let whole = try await size("pg_total_relation_size", "whole_jws")
            let text = try await database.number("SELECT avg(length(jws)) FROM appstore.whole_jws")
            let figures = [
                Figure("row", [table], "bytes/transaction"),
                Figure("indexes of the row", [indexes], "bytes/transaction"),
                Figure("archive", [archive], "bytes/transaction"),
                Figure("archive: its index", [archiveIndexes], "bytes/transaction"),
                Figure("all without the archive", [table + indexes], "bytes/transaction"),
                Figure("all with the archive", [table + indexes + archive], "bytes/transaction"),
                Figure("each JWS stored whole", [whole], "bytes/transaction"),
                Figure("each JWS as text", [text], "bytes/transaction"),
                Figure("archive against whole JWS", [whole / archive], "times smaller"),
            ]
            print(try json ? Figure.json(of: figures) : Figure.text(of: figures))
        }
    }

    /// The baseline without StoreLedger's archive format: the same key, and the text as received.
    private func storeWhole(_ rows: ReadyRows, in database: BenchDatabase) async throws {
        try await database.script(
            """
            CREATE TABLE appstore.whole_jws (app_id integer, record_key text, signed_date timestamptz, jws text,
                PRIMARY KEY (app_id, record_key, signed_date))
            """
        )
        for start in stride(from: 0, to: rows.world.customerCount, by: 100) {
            var cells: [Row] = []
            for customer in start..<min(start + 100, rows.world.customerCount) {
                for (place, jws) in try rows.world.ofCustomer(customer).enumerated() {
                    cells.append([
                        .integer(1), .text(String(2_000_000_000_000_000 + customer * 1_000 + place)),
                        .timestamp(1_780_000_000_000), .text(jws),
                    ])
                }
            }
            let ready = cells
            try await database.ledger.transaction { connection in
                _ = try connection.copyIn(
                    "whole_jws",
                    columns: ["app_id", "record_key", "signed_date", "jws"],
                    rows: ready
                )
            }
        }
        try await database.script("VACUUM (ANALYZE) appstore.whole_jws")
    }
}
