import FoundationEssentials

/// One measured number; ``text(of:)`` and ``json(of:)`` print a list of them.
struct Figure: Encodable {
    /// What was measured, in words that stay the same from run to run.
    let figure: String
    /// The median of all runs.
    let value: Double
    let unit: String
    /// Half the distance between the best and the worst run, as a part of the median.
    let spread: Double

    init(_ figure: String, _ runs: [Double], _ unit: String) {
        let sorted = runs.sorted()
        self.figure = figure
        self.unit = unit
        value = sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        spread = value == 0 ? 0 : ((sorted.last ?? 0) - (sorted.first ?? 0)) / 2 / value
    }

    /// An array of `{figure, value, unit, spread}`.
    static func json(of figures: [Figure]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(figures), as: UTF8.self)
    }

    /// One line each, the numbers below each other.
    static func text(of figures: [Figure]) -> String {
        let width = figures.map(\.figure.count).max() ?? 0
        return figures.map { figure in
            let name = figure.figure + String(repeating: " ", count: width - figure.figure.count)
            let number =
                figure.value >= 100 ? "\(Int(figure.value.rounded()))" : "\((figure.value * 100).rounded() / 100)"
            let padding = String(repeating: " ", count: max(0, 9 - number.count))
            return "\(name) \(padding)\(number) \(figure.unit)  ±\(Int((figure.spread * 100).rounded())) %"
        }.joined(separator: "\n")
    }
}
