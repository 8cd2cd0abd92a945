/// A progress bar of blocks.
struct ProgressBar {
    static let greatestWidth = 28
    static let leastWidth = 6

    let done: Int64
    let total: Int64
    var width = Self.greatestWidth

    /// The bar, always with the same width: another process can finish items that are not yet part of the total.
    var text: String {
        let share = total > 0 ? Double(min(max(done, 0), total)) / Double(total) : 0
        let filled = Int((share * Double(width)).rounded(.down))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }
}

/// One line of text that fits a terminal: a bar, and as many facts as there is room for.
struct ProgressLine {
    /// The facts in the order in which they are shown.
    ///
    /// A fact with a lower rank is left out later. A fact can have a shorter form for narrow terminals.
    var facts: [(rank: Int, forms: [String])] = []

    /// Facts up to this rank are shown together, if need be in their shortest forms.
    static let importantRank = 1

    /// - Parameters:
    ///   - done: Items done, for the bar.
    ///   - total: All items, for the bar.
    ///   - columns: The width of the terminal.
    /// - Returns: A line of fewer than `columns` characters, so that the cursor stays on it.
    func text(done: Int64, total: Int64, columns: Int) -> String {
        let space = max(columns - 1 - ProgressBar.leastWidth, 0)
        var (shown, room) = choose(within: space) { $0 }
        // Rather all important facts in their shortest forms than one of them in full.
        let mustShow = facts.indices.filter { facts[$0].rank <= Self.importantRank }
        if !mustShow.allSatisfy({ shown[$0] != nil }) { (shown, room) = choose(within: space) { $0.suffix(1) } }
        let words = shown.sorted { $0.key < $1.key }.map(\.value).joined(separator: " · ")
        let width = min(ProgressBar.leastWidth + room, ProgressBar.greatestWidth, max(columns - 1, 0))
        return ProgressBar(done: done, total: total, width: width).text + (words.isEmpty ? "" : " " + words)
    }

    /// Chooses a form of each fact that there is room for, by rank.
    private func choose(
        within space: Int,
        _ forms: ([String]) -> some Sequence<String>
    ) -> (shown: [Int: String], room: Int) {
        var room = space
        var shown: [Int: String] = [:]
        for index in facts.indices.sorted(by: { facts[$0].rank < facts[$1].rank }) {
            let separator = shown.isEmpty ? " " : " · "
            guard let form = forms(facts[index].forms).first(where: { separator.count + $0.count <= room }) else {
                continue
            }
            shown[index] = form
            room -= separator.count + form.count
        }
        return (shown, room)
    }
}
