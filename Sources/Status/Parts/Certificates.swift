import Basics
import Ledger
import Postgres

extension JobStatus {
    /// The certificate chains of Apple's signatures.
    package struct Certificates: StatusPart, Equatable {
        package let chains: Int64
        /// When the newest chain was first seen; `nil` if that is not recorded.
        package let newestSince: String?

        static let key: String? = "certificates"
        static let words: KeyValuePairs = ["certificates": "certificates"]
        static let tables = ["signing_headers"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            let newest = Ledger.moment("max(first_seen_at)")
            return try connection.value(
                "SELECT count(*) AS chains, \(newest) AS newest_since FROM signing_headers WHERE app_id = $1",
                [context.appKey]
            )
        }

        func lines(in status: JobStatus) -> [String] {
            guard chains > 0 else { return [] }
            let newest = newestSince.map { ", the newest since \($0)" } ?? ""
            return ["  certificates: records are signed with \(counted(chains, "chain"))\(newest)"]
        }
    }

    package var certificates: Certificates? { self[Certificates.self] }
}
