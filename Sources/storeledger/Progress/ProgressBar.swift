/// How far a run is, as a bar of blocks.
struct ProgressBar {
    let done: Int64
    let total: Int64

    private static let width: Int64 = 28

    /// Always as wide: another process may finish items that this one has not yet heard of.
    var text: String {
        let filled = total > 0 ? Self.width * min(max(done, 0), total) / total : 0
        return String(repeating: "█", count: Int(filled)) + String(repeating: "░", count: Int(Self.width - filled))
    }
}
