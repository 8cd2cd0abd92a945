import Postgres

extension JobStatus {
    /// What the role has no privilege to read.
    struct NotReadable: StatusPart {
        /// Keys of the JSON; `nil` if the role can read everything.
        let notReadable: [String]?

        /// The order of ``notReadable``, on which readers of the JSON can depend; keys of newer parts follow.
        private static let firstKeys = [
            "message", "failures", "unknownIds", "retryable", "oldestUnfinished", "budget", "certificates", "receiver",
            "leftOutFacts", "withoutPrice", "removable", "views",
        ]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) -> Self? {
            let keys = JobStatus.partTypes.filter { !$0.isReadable(context) }.flatMap { $0.words.map(\.key) }
            let ordered = firstKeys.filter(keys.contains) + keys.filter { !firstKeys.contains($0) }
            return Self(notReadable: ordered.isEmpty ? nil : ordered)
        }

        func lines(in status: JobStatus) -> [String] {
            guard let notReadable else { return [] }
            let words = JobStatus.partTypes.flatMap { Array($0.words) }
            let names = notReadable.map { key in words.first { $0.key == key }?.value ?? key }
            return ["  not shown, because the role may not read it: \(names.joined(separator: ", "))"]
        }
    }
}
