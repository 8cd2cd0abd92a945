import Basics

/// Formats figures for people: exact, with commas between thousands.
enum FigureText {
    /// A value of a column; a dash for an unknown number.
    static func words(_ value: String?, _ kind: FigureColumn.Kind, currency: String? = nil) -> String {
        guard let value else { return kind == .text ? "not told" : "–" }
        switch kind {
        case .text: return value
        case .month: return month(value)
        case .day: return day(value)
        case .moment: return String(value.prefix(16)).replacing("T", with: " ")
        case .count: return Int64(value).map(count) ?? value
        case .money: return Int64(value).map { money($0, currency: currency) } ?? value
        case .rate: return rate(value)
        case .ratio: return plainRatio(value) ?? value
        case .seconds: return Int64(value).map { Duration.seconds($0).inWords } ?? value
        }
    }

    /// `-1234567` becomes `−1,234,567`.
    static func count(_ number: Int64) -> String {
        (number < 0 ? "−" : "") + grouped(number.magnitude)
    }

    /// Converts thousandths to units, with two decimal places, or three if needed.
    ///
    /// A currency without a smaller unit has none: shares of a price, such as MRR, are rounded to whole units.
    static func money(_ milliunits: Int64, currency: String?) -> String {
        guard !isWhole(currency) else {
            let units = (milliunits.magnitude + 500) / 1_000
            return (milliunits < 0 && units > 0 ? "−" : "") + grouped(units)
        }
        let (units, thousandths) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1_000)
        let digits = thousandths % 10 != 0 ? padded(thousandths, to: 3) : padded(thousandths / 10, to: 2)
        return (milliunits < 0 ? "−" : "") + "\(grouped(units)).\(digits)"
    }

    /// The same, rounded to at most two decimal places for a headline.
    static func headline(_ milliunits: Int64, currency: String?) -> String {
        guard !isWhole(currency) else { return money(milliunits, currency: currency) }
        let rounded = Int64((milliunits.magnitude + 5) / 10 * 10)
        return money(milliunits < 0 ? -rounded : rounded, currency: currency)
    }

    /// Whether a currency has no smaller unit.
    static func isWhole(_ currency: String?) -> Bool { wholeCurrencies.contains(currency ?? "") }

    /// Thousandths as a JSON number of units.
    static func plainMoney(_ milliunits: Int64) -> String {
        let (units, thousandths) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1_000)
        return (milliunits < 0 ? "-" : "") + "\(units).\(padded(thousandths, to: 3))"
    }

    /// `0.0123` becomes `1.23%`.
    static func rate(_ value: String) -> String {
        tenThousandths(value).map { percent(hundredths: Int64($0)) } ?? value
    }

    /// `0.0123` as a JSON number of percent.
    static func plainRate(_ value: String) -> String {
        tenThousandths(value).map { "\($0 / 100).\(padded(UInt64($0 % 100), to: 2))" } ?? "null"
    }

    /// A decimal number with two decimal places, `1.5` as `1.50`; `nil` for other text.
    static func plainRatio(_ value: String) -> String? {
        let isNegative = value.hasPrefix("-")
        guard let exact = tenThousandths(isNegative ? String(value.dropFirst()) : value) else { return nil }
        let rounded = (exact + 50) / 100
        return "\(isNegative && rounded > 0 ? "-" : "")\(rounded / 100).\(padded(UInt64(rounded % 100), to: 2))"
    }

    /// The share of a count in a total, rounded to a tenth of a percent: `12` of `345` is `3.5%`.
    ///
    /// A negative count, such as more returns than expiries, has a negative share.
    ///
    /// - Returns: `nil` for an unknown count or a total of zero.
    static func share(_ part: String?, of whole: String?) -> String? {
        guard let part = part.flatMap({ Int64($0) }), let whole = whole.flatMap({ Int64($0) }), part > .min, whole > 0
        else { return nil }
        return tenths(of: abs(part), in: whole).map { "\(part < 0 && $0 > 0 ? "−" : "")\(FigureText.decimal($0))%" }
    }

    /// The change from an earlier figure: `+3.2%`, `−0.4%` or `no change`; the earlier figure if a percentage
    /// has no meaning.
    static func change(from before: Int64, to now: Int64, earlier: String) -> String {
        if before == now { return "no change" }
        let (difference, isTooLarge) = now.subtractingReportingOverflow(before)
        guard before > 0, !isTooLarge, let tenths = tenths(of: abs(difference), in: before) else {
            return "\(now > before ? "up" : "down") from \(earlier)"
        }
        return (now > before ? "+" : "−") + decimal(tenths) + "%"
    }

    /// `1234` hundredths of a percent as `12.34%`.
    static func percent(hundredths: Int64) -> String {
        "\(hundredths / 100).\(padded(UInt64(hundredths % 100), to: 2))%"
    }

    /// The change of a rate, in hundredths of a percent: `+1.20 points`.
    static func points(_ hundredths: Int64) -> String {
        if hundredths == 0 { return "no change" }
        let size = hundredths.magnitude
        return "\(hundredths > 0 ? "+" : "−")\(size / 100).\(padded(size % 100, to: 2)) points"
    }

    /// Tenths of a percent, rounded half up; `nil` if the numbers are too large to compute it.
    private static func tenths(of part: Int64, in whole: Int64) -> Int64? {
        let (product, isTooLarge) = part.multipliedReportingOverflow(by: 1_000)
        return isTooLarge || product > Int64.max - whole / 2 ? nil : (product + whole / 2) / whole
    }

    /// `1234` tenths as `123.4`.
    private static func decimal(_ tenths: Int64) -> String { "\(grouped(UInt64(tenths / 10))).\(tenths % 10)" }

    /// The month a number of months before another: `2026-02` less 3 is `2025-11`.
    static func month(_ month: String, less months: Int) -> String? {
        let parts = month.split(separator: "-")
        guard parts.count == 2, let year = Int(parts[0]), let number = Int(parts[1]) else { return nil }
        let count = year * 12 + number - 1 - months
        return "\(padded(UInt64(count / 12), to: 4))-\(padded(UInt64(count % 12 + 1), to: 2))"
    }

    /// A rate in percent, rounded, without the sign: `0.1249` is `12`; above zero and below half a percent is `<1`.
    static func wholePercent(_ value: String) -> String {
        guard let hundredths = tenThousandths(value) else { return value }
        return hundredths > 0 && hundredths < 50 ? "<1" : "\((hundredths + 50) / 100)"
    }

    /// A decimal number in ten-thousandths; the ten-thousandths of a rate are hundredths of a percent.
    ///
    /// Further decimal places are ignored.
    static func tenThousandths(_ value: String) -> Int? {
        let parts = value.split(separator: ".", omittingEmptySubsequences: false)
        guard let units = parts.first.flatMap({ Int($0) }), units >= 0, parts.count <= 2 else { return nil }
        let fraction = parts.count == 2 ? parts[1].prefix(4) : ""
        return Int(fraction + String(repeating: "0", count: 4 - fraction.count)).map { units * 10_000 + $0 }
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

    /// Currencies without a smaller unit.
    ///
    /// Source: ISO 4217, those with the exponent 0.
    private static let wholeCurrencies: Set<String> = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF",
    ]
}
