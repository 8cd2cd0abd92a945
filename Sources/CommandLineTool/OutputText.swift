import Pipeline
import Publish

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
