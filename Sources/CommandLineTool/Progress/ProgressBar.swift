/// A progress bar of blocks.
struct ProgressBar {
    let done: Int64
    let total: Int64

    private static let width: Int64 = 28

    /// The bar, always with the same width: another process can finish items that are not yet part of the total.
    var text: String {
        let filled = total > 0 ? Self.width * min(max(done, 0), total) / total : 0
        return String(repeating: "█", count: Int(filled)) + String(repeating: "░", count: Int(Self.width - filled))
    }
}
