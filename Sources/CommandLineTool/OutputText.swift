import Pipeline
import Publish

/// A number with a noun, such as `1 page` or `3 pages`.
func counted(_ number: some BinaryInteger, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}

/// Such as `1.4 GB`, by powers of ten.
func sizeInWords(_ bytes: Int64) -> String {
    for (unit, name) in [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")] where Double(bytes) >= unit {
        return "\((Double(bytes) / unit * 10).rounded() / 10) \(name)"
    }
    return "\(bytes / 1_000) kB"
}

/// Such as `12.5`.
func oneDecimal(_ value: Double) -> String {
    "\((value * 10).rounded() / 10)"
}

/// `text` with spaces after it, at least one, so that the next column begins after `width` characters.
func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
}

extension PublishedFiles {
    /// The files with their rows, such as `transactions.csv (12 rows), refunds.csv (3 rows)`.
    var fileList: String {
        files.isEmpty ? "no changes" : files.map { "\($0.file) (\($0.rows) rows)" }.joined(separator: ", ")
    }
}
