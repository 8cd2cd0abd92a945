import Basics

/// Formats figures for people, with commas between thousands.
///
/// The script of the page writes them in the same way.
enum FigureText {
    /// A value as PostgreSQL wrote it; a dash for an unknown number.
    static func words(_ value: String?, _ kind: FigureColumn.Kind) -> String {
        guard let value else { return kind == .text ? "not told" : "–" }
        switch kind {
        case .text: return value
        case .month: return month(value)
        case .day: return day(value)
        case .moment: return String(value.prefix(16)).replacing("T", with: " ")
        case .count, .money, .rate, .ratio, .seconds: return Double(value).map { words($0, kind) } ?? value
        }
    }

    /// A number; a dash for an unknown one.
    ///
    /// - Parameter currency: Of an amount in thousandths.
    static func words(_ value: Double?, _ kind: FigureColumn.Kind, currency: String? = nil) -> String {
        guard let value, value.magnitude < 9e15 else { return "–" }
        switch kind {
        case .money: return money(value, currency: currency)
        case .rate: return decimal(value * 100, digits: 2) + "%"
        case .ratio: return decimal(value, digits: 2)
        case .seconds: return Duration.seconds(Int64(value)).inWords
        case .count, .text, .month, .day, .moment: return decimal(value, digits: 0)
        }
    }

    /// Thousandths as units, with the digits of the currency.
    static func money(_ milliunits: Double, currency: String?) -> String {
        decimal(milliunits / 1_000, digits: digits(of: currency))
    }

    /// The digits after the point of a currency: 2 of most, none of the yen, 3 of the dinar of Kuwait.
    ///
    /// Source: ISO 4217, those whose exponent is not 2.
    static func digits(of currency: String?) -> Int {
        switch currency ?? "" {
        case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF",
            "XPF":
            0
        case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND": 3
        default: 2
        }
    }

    /// The share of a count in a total, rounded to a tenth of a percent: `12` of `345` is `3.5%`.
    ///
    /// A negative count, such as more returns than expiries, has a negative share.
    ///
    /// - Returns: `nil` for an unknown count or a total of zero.
    static func share(_ part: Double?, of whole: Double?) -> String? {
        guard let part, let whole, whole > 0 else { return nil }
        return decimal(part / whole * 100, digits: 1) + "%"
    }

    /// The change from an earlier figure: `+3.2% up`, `−0.4% down` or `no change`; the earlier figure if a percentage has no
    /// meaning.
    static func change(from before: Double, to now: Double, earlier: String) -> String {
        if before == now { return "no change" }
        let word = now > before ? "up" : "down"
        guard before > 0 else { return "\(word) from \(earlier)" }
        let percent = decimal((now - before).magnitude / before * 100, digits: 1)
        return "\(now > before ? "+" : "−")\(percent)% \(word)"
    }

    /// The change of a rate: `+1.20 points up`.
    static func points(from before: Double, to now: Double) -> String {
        let points = decimal((now - before).magnitude * 100, digits: 2)
        return points == "0.00" ? "no change" : now > before ? "+\(points) points up" : "−\(points) points down"
    }

    /// A rate in percent, rounded, without the sign: `0.1249` is `12`; above zero and below half a percent is `<1`.
    static func wholePercent(_ value: Double) -> String {
        value > 0 && value < 0.005 ? "<1" : decimal(value * 100, digits: 0)
    }

    /// Rounds half away from zero, and groups thousands.
    static func decimal(_ number: Double, digits: Int) -> String {
        var scale: UInt64 = 1
        for _ in 0..<digits { scale *= 10 }
        // The smallest step of a sum that is exact in decimals and not in binary.
        let scaled = (number.magnitude * Double(scale) * (1 + 1e-12) + 0.5).rounded(.down)
        guard scaled < 1e18 else { return "–" }
        let (units, rest) = UInt64(scaled).quotientAndRemainder(dividingBy: scale)
        let fraction = digits > 0 ? "." + padded(rest, to: digits) : ""
        return (number < 0 && scaled > 0 ? "−" : "") + grouped(units) + fraction
    }

    /// `2026-11` becomes `Nov 2026`.
    private static func month(_ value: String) -> String {
        let parts = value.split(separator: "-")
        guard parts.count >= 2, let number = Int(parts[1]), months.indices.contains(number - 1) else { return value }
        return "\(months[number - 1]) \(parts[0])"
    }

    /// `2026-11-02` becomes `2 Nov 2026`.
    private static func day(_ value: String) -> String {
        guard let number = value.split(separator: "-").last.flatMap({ Int($0) }) else { return value }
        return "\(number) \(month(value))"
    }

    private static func grouped(_ number: UInt64) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { text, place in
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digits[place])
        }
    }

    private static func padded(_ number: UInt64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
