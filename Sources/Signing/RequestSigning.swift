import AppStoreModel
package import Basics
import CSVFormat
import Synchronization

/// Signs a file of requests that an app passes to StoreKit.
///
///     read ─► check ─► sign ─► write
///
/// Rows are signed in parallel, and written in the order of the input. After a row that breaks a rule, all other rows are only
/// checked, so that all problems are reported at once. At most two batches of rows for each worker are in memory.
package struct RequestSigning: Sendable {
    /// The most problems that an error lists.
    private static let mostProblems = 20

    private let kind: SignatureKind
    private let key: RequestKey
    private let time: Timekeeper
    private let width: Int
    private let allowsUnknown: Bool

    /// - Parameters:
    ///   - kind: What the rows are.
    ///   - time: The clock of the signatures.
    ///   - width: How many batches of rows are signed at the same time, at least 1.
    ///   - allowsUnknown: Whether members that Apple does not document are signed; only in Advanced Commerce requests.
    package init(
        _ kind: SignatureKind,
        key: RequestKey,
        time: Timekeeper = .system,
        width: Int,
        allowsUnknown: Bool = false
    ) {
        self.kind = kind
        self.key = key
        self.time = time
        self.width = width
        self.allowsUnknown = allowsUnknown
    }

    /// Signs the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The input file; messages show the path unchanged.
    ///   - warn: Gets a sentence for each member that Apple does not document, after all rows are written.
    ///   - write: Gets the output part by part. The parts are worthless after an error.
    /// - Returns: The number of signatures, at least 1.
    /// - Throws: ``SigningInputError``, ``SignedData/SigningError``, errors of `write`.
    package func sign(
        _ path: String,
        warn: (String) -> Void = { _ in },
        write: ([UInt8]) throws -> Void
    ) async throws -> Int {
        do {
            if kind == .advancedCommerce {
                var lines = try RequestLines(path: path)
                let signer = RequestLineSigner(key: key, allowsUnknown: allowsUnknown)
                return try await sign(path, next: { try lines.nextLines() }, signer.sign, warn, write)
            }
            var table = try OfferTable(path: path, kind: kind)
            let signer = OfferSigner(kind, header: table.header, key: key)
            try write(try signer.outputHeader())
            return try await sign(path, next: { try table.nextRows() }, signer.sign, warn, write)
        } catch let error as CSVError {
            throw SigningInputError.unreadable(error)
        }
    }

    private func sign<Batch: Sendable>(
        _ path: String,
        next: () throws -> Batch?,
        _ sign: @escaping @Sendable (Batch, UnixMilliseconds, Bool) throws -> SignedRows,
        _ warn: (String) -> Void,
        _ write: ([UInt8]) throws -> Void
    ) async throws -> Int {
        let isInvalid = ProblemFlag()
        var rows = 0
        var problems: [RowProblem] = []
        var problemCount = 0
        var unknown = UnknownMembers()
        try await withOrderedWorkers(width: width, next: next) { [time] batch in
            let now = UnixMilliseconds(rawValue: time.wallClock())
            let signed = try sign(batch, now, !isInvalid.isRaised)
            if !signed.problems.isEmpty { isInvalid.raise() }
            return signed
        } take: { signed in
            rows += signed.count
            problemCount += signed.problems.count
            if let members = signed.unknownMembers { unknown.add(members) }
            problems += signed.problems.prefix(Self.mostProblems - problems.count)
            if problemCount == 0 { try write(signed.output) }
        }
        guard rows > 0 else { throw SigningInputError.noRows(path: path) }
        guard problemCount == 0 else {
            throw SigningInputError.invalid(path: path, rows: rows, problems: problems, count: problemCount)
        }
        Self.sentences(on: unknown).forEach(warn)
        return rows
    }

    private static func sentences(on unknown: UnknownMembers) -> [String] {
        let named = unknown.counts.sorted { $0.key < $1.key }.map { name, count in
            "\(name.member) is not a member of \(name.object) in Apple's documentation; signed as it stands, "
                + counted(count, "time")
        }
        return unknown.others > 0
            ? named + ["members with further names that Apple does not document: \(unknown.others)"] : named
    }
}

/// Whether a row was found that breaks a rule.
private final class ProblemFlag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
