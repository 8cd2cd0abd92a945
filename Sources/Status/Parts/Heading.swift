package import Ledger
import Postgres

extension JobStatus {
    /// What the status is of, and where it was read.
    struct Heading: StatusPart {
        let app: String
        let environment: String
        let job: String
        /// The replica that was read; `nil` on a primary.
        let replica: Replica?

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) -> Self? {
            let app = context.app
            return Self(app: app.bundleId, environment: app.environment, job: context.job, replica: context.replica)
        }

        func lines(in status: JobStatus) -> [String] {
            ["\(job): \(app) (\(environment))"]
                + (replica.map { ["  read from a replica, which has all changes until \($0.appliedUntil)"] } ?? [])
        }
    }

    package var app: String { self[Heading.self]?.app ?? "" }
    package var environment: String { self[Heading.self]?.environment ?? "" }
    package var job: String { self[Heading.self]?.job ?? "" }
    package var replica: Replica? { self[Heading.self]?.replica }
}
