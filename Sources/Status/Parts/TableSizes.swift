import Basics
import Postgres

extension JobStatus {
    struct TableSizes: StatusPart {
        /// The tables of the whole schema, largest first.
        let storage: [Storage]

        static let title = "sizes of tables"

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            Self(storage: try connection.values(SQLStatement.storage.text))
        }

        func lines(in status: JobStatus) -> [String] {
            guard !storage.isEmpty else { return [] }
            let largest = storage.prefix(4).map { "\($0.table) \(sizeInWords($0.bytes))" }.joined(separator: ", ")
            return ["  storage: \(sizeInWords(storage.reduce(0) { $0 + $1.bytes })) in the schema: \(largest)"]
        }
    }

    package var storage: [Storage] { self[TableSizes.self]?.storage ?? [] }

    package struct Storage: Codable, Sendable, Equatable {
        package let table: String
        /// The size with indexes and TOAST data.
        package let bytes: Int64
    }
}
