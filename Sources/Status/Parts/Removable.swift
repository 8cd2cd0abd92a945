import Basics
import JobFiles
import Ledger
import Postgres

extension JobStatus {
    /// What the job's `retention` would remove now, approximately.
    struct Removable: StatusPart {
        /// `nil` without a job file that has the section.
        let removable: [OldRecords]?

        static let words: KeyValuePairs = ["removable": "records that retention would remove"]

        static func isReadable(_ context: StatusContext) -> Bool {
            terms(context).isEmpty || context.readable.contains("signed_payloads", "latest_signatures", "crawl_items")
        }

        private static func terms(_ context: StatusContext) -> [(part: Retention.Part, term: Duration)] {
            context.plan?.job.retention.parts ?? []
        }

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let terms = terms(context)
            guard !terms.isEmpty, isReadable(context) else { return nil }
            return Self(
                removable: try terms.map { part, term in
                    try Ledger.estimateOld(part, olderThan: term, job: context.job, app: context.app.id, connection)
                }
            )
        }

        func lines(in status: JobStatus) -> [String] {
            (removable ?? []).map { "  retention would free: about \($0.inWords)" }
        }
    }
}

extension OldRecords {
    /// Such as `1200 archived payloads (3.4 MB)`.
    package var inWords: String {
        let count =
            switch part {
            case .archive: counted(rows, "archived payload")
            case .sendAttempts: counted(rows, "send attempt")
            case .items: "\(counted(rows, "item")) of superseded runs"
            case .receivedNotifications: counted(rows, "received notification")
            }
        return "\(count) (\(sizeInWords(bytes)))"
    }
}
