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

    /// - Parameters:
    ///   - kind: What the rows are.
    ///   - time: The clock of the signatures.
    ///   - width: How many batches of rows are signed at the same time, at least 1.
    package init(_ kind: SignatureKind, key: RequestKey, time: Timekeeper = .system, width: Int) {
        self.kind = kind
        self.key = key
        self.time = time
        self.width = width
    }

    /// Signs the file at `path`.
    ///
    /// - Parameters:
    ///   - path: The input file; messages show the path unchanged.
    ///   - write: Gets the output part by part. The parts are worthless after an error.
    /// - Returns: The number of signatures, at least 1.
    /// - Throws: ``SigningInputError``, ``SignedData/SigningError``, errors of `write`.
    package func sign(_ path: String, write: ([UInt8]) throws -> Void) async throws -> Int {
        do {
            if kind == .advancedCommerce {
                var lines = try RequestLines(path: path)
                let signer = RequestLineSigner(key: key)
                return try await sign(path, next: { try lines.nextLines() }, signer.sign, write)
            }
            var table = try OfferTable(path: path, kind: kind)
            let signer = OfferSigner(kind, header: table.header, key: key)
            try write(try signer.outputHeader())
            return try await sign(path, next: { try table.nextRows() }, signer.sign, write)
        } catch let error as CSVError {
            throw SigningInputError.unreadable(error)
        }
    }

    private func sign<Batch: Sendable>(
        _ path: String,
        next: () throws -> Batch?,
        _ sign: @escaping @Sendable (Batch, UnixMilliseconds, Bool) throws -> SignedRows,
        _ write: ([UInt8]) throws -> Void
    ) async throws -> Int {
        let isInvalid = ProblemFlag()
        var rows = 0
        var problems: [RowProblem] = []
        var problemCount = 0
        try await withOrderedWorkers(width: width, next: next) { [time] batch in
            let now = UnixMilliseconds(rawValue: time.wallClock())
            let signed = try sign(batch, now, !isInvalid.isRaised)
            if !signed.problems.isEmpty { isInvalid.raise() }
            return signed
        } take: { signed in
            rows += signed.count
            problemCount += signed.problems.count
            problems += signed.problems.prefix(Self.mostProblems - problems.count)
            if problemCount == 0 { try write(signed.output) }
        }
        guard rows > 0 else { throw SigningInputError.noRows(path: path) }
        guard problemCount == 0 else {
            throw SigningInputError.invalid(path: path, rows: rows, problems: problems, count: problemCount)
        }
        return rows
    }
}

/// Whether a row was found that breaks a rule.
private final class ProblemFlag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}
