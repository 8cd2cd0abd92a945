/// How long a job keeps what newer records have replaced: the section `retention`.
///
/// Nothing is removed without it.
package struct Retention: Equatable, Sendable {
    /// What can have a term, under the names of the job file.
    package enum Part: String, CaseIterable, Sendable, Codable {
        /// Payloads of the raw archive. The newest of each record stays, and so does the one of each stored row.
        case archive
        /// Attempts to send a notification. The last one of each notification stays.
        case sendAttempts
        /// Items that superseded runs left unfinished, and that no later run requested.
        case items
        /// Received notifications that became records. Those that `reconcile` can still compare stay, and so does the newest of the
        /// older ones, which says since when the receiver has been working.
        case receivedNotifications
    }

    /// The possible terms.
    package static let terms = Duration.seconds(86_400)...Duration.seconds(36_500 * 86_400)

    /// The age from which rows of a part are removed, in ``terms``.
    package let terms: [Part: Duration]

    /// The parts with a term, in the order of ``Part/allCases``.
    package var parts: [(part: Part, term: Duration)] {
        Part.allCases.compactMap { part in terms[part].map { (part, $0) } }
    }
}
