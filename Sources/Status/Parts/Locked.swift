import Postgres

extension JobStatus {
    /// What was left out, because another session has locked its tables.
    struct Locked: StatusPart {
        /// The parts as the text calls them.
        let parts: [String]
        /// The sessions that hold such locks, as far as the role may see them.
        let heldBy: [String]

        static let key: String? = "locked"

        /// It is made when all other parts were read.
        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) -> Self? { nil }

        init(_ parts: [String], _ connection: borrowing PostgresConnection) throws {
            self.parts = parts
            let schema = try connection.run("SELECT current_schema()::text AS name")[0].text("name")
            // No weaker lock keeps readers out.
            heldBy = try LockHolder.all(in: schema, .schema, on: connection)
                .filter { $0.mode == "AccessExclusiveLock" }.map(\.description)
        }

        func lines(in status: JobStatus) -> [String] {
            let holders = heldBy.isEmpty ? "" : ", held by \(heldBy.joined(separator: "; "))"
            return ["  not shown, because of a lock\(holders): \(parts.joined(separator: ", "))"]
        }
    }
}
