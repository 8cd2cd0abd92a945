import Actions
import Basics

/// What `actions plan` shows of the prices that a batch changes.
struct PriceChangeText {
    /// Prices that are shown; the others are counted.
    private static let shown = 10

    private let changes: [PriceChange]

    init(_ changes: [PriceChange]) {
        self.changes = changes
    }

    var lines: [String] {
        var lines = changes.prefix(Self.shown).map(Self.line)
        let others = changes.dropFirst(Self.shown)
        if !others.isEmpty {
            let rows = others.reduce(0) { $0 + $1.rows }
            lines.append("  and \(counted(Int64(others.count), "other price")) in \(counted(rows, "row"))")
        }
        let large = changes.filter(\.isLarge).reduce(0) { $0 + $1.rows }
        if large > 0 {
            lines.append(
                "  warning: in \(counted(large, "row")) a price changes by more than 50 %; prices are in thousandths of a unit of the currency"
            )
        }
        return lines
    }

    private static func line(_ change: PriceChange) -> String {
        let old = change.oldPrice.map(amount) ?? "not known"
        let currency = change.currency.map { " \($0)" } ?? ""
        let percent = change.percent.map { percent in
            percent == 0 ? ", the same" : ", \(Int(abs(percent).rounded())) % \(percent > 0 ? "up" : "down")"
        }
        return
            "  price of \(change.sku): \(old) to \(amount(change.newPrice))\(currency) in \(counted(change.rows, "row"))\(percent ?? "")"
    }

    /// A price that is no whole number of hundredths has three digits.
    private static func amount(_ milliunits: Int64) -> String {
        guard milliunits % 10 != 0 else { return BatchSummaryText.amount(milliunits) }
        let fraction = String(milliunits % 1_000)
        return "\(milliunits / 1_000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
    }
}
