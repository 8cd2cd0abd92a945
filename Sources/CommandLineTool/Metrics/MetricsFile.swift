import Basics
import FoundationEssentials
import Ledger

/// The file for the textfile collector of Prometheus's node_exporter.
///
/// The collector reads it at any moment and as another user, so the file is always complete, and every user can read
/// it.
enum MetricsFile {
    /// The lines about the process of a run in an existing file.
    ///
    /// `status` does not know that process and keeps the lines, so that it can update the file of a run.
    static func processMetrics(at path: String) -> String {
        lines(at: path) { MetricsText.isLine($0, of: MetricsText.exitMetrics + [MetricsText.progressMetric]) }
    }

    /// The lines of an existing file for which `isKept` is true; empty if the file cannot be read.
    static func lines(at path: String, _ isKept: (Substring) -> Bool) -> String {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return "" }
        return text.split(separator: "\n").filter(isKept).map { $0 + "\n" }.joined()
    }

    /// Replaces the file.
    ///
    /// The text is first written to a draft in the same folder. The name of the draft does not end in `.prom`, so the
    /// collector ignores the draft.
    ///
    /// - Throws: ``Ledger/LedgerError/cannotCreate(path:reason:)``, ``Ledger/LedgerError/cannotWrite(path:reason:)``; the old
    ///   file is then unchanged.
    static func write(_ text: String, to path: String) throws(LedgerError) {
        do throws(WholeFile.Failure) {
            try WholeFile.write(Array(text.utf8), to: path, isDurable: false)
        } catch {
            switch error.step {
            case .create: throw .cannotCreate(path: path, reason: error.reason)
            case .write: throw .cannotWrite(path: path, reason: error.reason)
            }
        }
    }
}
