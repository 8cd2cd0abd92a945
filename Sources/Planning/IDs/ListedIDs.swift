package import AppStoreModel
package import Basics
package import JobFiles
package import JobSyntax
import Postgres
import Streams

/// Provides the listed, validated IDs in batches.
///
/// If it throws because the list is invalid, no run is started.
package typealias IDFeed = @Sendable (_ take: ([String]) throws -> Void) throws -> Void

/// The source of one list of IDs.
package enum ListedIDs: Sendable {
    case none
    case feed(IDFeed)
    case file(IDFile)
    /// One SELECT; its first column has the IDs.
    case query(String)
}

/// The lists of IDs of a run.
package struct RunLists: Sendable {
    /// The job's transaction IDs.
    package let transactions: ListedIDs
    /// The lists of streams with their own IDs.
    package let own: [(stream: StreamName, kind: IDKind, ids: ListedIDs)]

    package init(transactions: ListedIDs, own: [(stream: StreamName, kind: IDKind, ids: ListedIDs)] = []) {
        self.transactions = transactions
        self.own = own
    }

    /// The lists that the job file names.
    package init(of job: JobFile) {
        let bundleId = job.app.bundleId
        transactions = IDSource(job.transactionIds?.list, of: .transaction, bundleId: bundleId).ids
        own = job.streams.all.compactMap { stream in
            stream.ownList.map { (stream.name, $0.kind, IDSource($0.list, of: $0.kind, bundleId: bundleId).ids) }
        }
    }
}

/// One list of IDs that a job file names.
package struct NamedIDList: Sendable {
    /// The stream with its own list; `nil` for the job's transaction IDs.
    package let stream: StreamName?
    /// The list's key in the job file, such as `transactionIds.csv`.
    package let key: String
    package let kind: IDKind
    package let list: IDList
    /// The app of the job.
    let bundleId: String

    package var source: IDSource { IDSource(list, of: kind, bundleId: bundleId) }

    /// The key, and the path of a file: `transactionIds.csv (/srv/ids.csv)`.
    package var title: String {
        guard case .csv(let path, _) = list else { return key }
        return "\(key) (\(path))"
    }
}

extension JobFile {
    /// The job's list of transaction IDs, if it has one, and the lists of streams with their own IDs.
    package var idLists: [NamedIDList] {
        let listed = transactionIds?.list.map { list in
            NamedIDList(
                stream: nil,
                key: list.keyPath(in: IDKind.transaction.key),
                kind: .transaction,
                list: list,
                bundleId: app.bundleId
            )
        }
        let own = streams.all.compactMap { stream in
            stream.ownList.map { own in
                NamedIDList(
                    stream: stream.name,
                    key: own.list.keyPath(in: "streams.\(stream.name.rawValue).\(own.kind.key)"),
                    kind: own.kind,
                    list: own.list,
                    bundleId: app.bundleId
                )
            }
        }
        return [listed].compactMap(\.self) + own
    }
}

/// An ID from a query is not valid.
package struct BadListedID: ExplainedError, Equatable, Sendable {
    package let kind: IDKind
    /// The text, at most 40 characters.
    package let found: String

    package var status: ExitStatus { .badInput }

    package var sentence: String {
        "\(kind.key).query found \"\(found)\"; an ID is \(kind.rule). Nothing was sent."
    }
}

/// PostgreSQL refuses the query of the job's ID list.
package struct BadListQuery: ExplainedError, Equatable, Sendable {
    package let kind: IDKind
    /// PostgreSQL's message.
    package let message: String

    package var status: ExitStatus { .badInput }

    package var sentence: String { "PostgreSQL does not accept \(kind.key).query: \(message). Nothing was sent." }

    /// Converts PostgreSQL errors about the query.
    ///
    /// Other errors are passed on.
    static func translating<R>(_ kind: IDKind, _ query: () throws -> R) throws -> R {
        do {
            return try query()
        } catch let error as PostgresError where ["42", "22"].contains(error.state.conditionClass) {
            throw BadListQuery(kind: kind, message: error.message)
        }
    }
}
