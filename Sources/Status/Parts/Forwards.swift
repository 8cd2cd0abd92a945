import Basics
package import Ledger
import LedgerSchema
import Postgres

extension JobStatus {
    /// Notifications that the receiver has still to post to further servers, and those that it gave up.
    package struct Forwards: StatusPart, Equatable {
        package let destinations: [ForwardCounts]

        static let key: String? = "forwards"
        static let words: KeyValuePairs = ["forwards": "forwarded notifications"]
        static let tables = ["forwards"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try read(context.app.id, connection)
        }

        /// - Returns: `nil` if nothing is undelivered or given up.
        static func read(_ app: AppID, _ connection: borrowing PostgresConnection) throws -> Self? {
            let counts = try ForwardCounts.read(of: app, on: connection)
            return counts.isEmpty ? nil : Self(destinations: counts)
        }

        func lines(in status: JobStatus) -> [String] { lines }

        /// The lines of the text.
        package var lines: [String] { destinations.flatMap(Self.lines) }

        private static func lines(_ counts: ForwardCounts) -> [String] {
            var lines: [String] = []
            if counts.undelivered > 0 {
                let age = Duration.seconds(counts.oldestSeconds ?? 0).inWords
                let number = counted(counts.undelivered, "notification")
                lines.append("  forwarding: \(number) not delivered to \(counts.url), the oldest for \(age)")
            }
            if counts.givenUp > 0 {
                let number = counted(counts.givenUp, "notification")
                lines.append("  forwarding: \(number) for \(counts.url) given up in the last 30 days")
            }
            guard let error = counts.lastError else { return lines }
            return lines + ["    the last failure: \(error)"]
        }
    }

    package var forwards: Forwards? { self[Forwards.self] }
}
