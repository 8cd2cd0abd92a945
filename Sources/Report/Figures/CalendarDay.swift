/// A day of the Gregorian calendar, in UTC.
struct CalendarDay: Sendable, Comparable {
    let year, month, day: Int

    init(_ year: Int, _ month: Int, _ day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// - Parameter text: It begins with `2026-11-22`, or is `2026-11` for the first day of a month.
    /// - Returns: `nil` for other text.
    init?(_ text: String) {
        // A page has millions of days, so the digits are read one by one.
        var (year, month, day, hyphens) = (0, 0, 0, 0)
        for byte in text.utf8.prefix(10) {
            if byte == UInt8(ascii: "-") {
                hyphens += 1
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let digit = Int(byte - UInt8(ascii: "0"))
            switch hyphens {
            case 0: year = 10 * year + digit
            case 1: month = 10 * month + digit
            default: day = 10 * day + digit
            }
        }
        if hyphens == 1 { day = 1 }
        guard (1...2).contains(hyphens), (1...12).contains(month), day > 0 else { return nil }
        self.init(year, month, day)
    }

    /// The first day of a month, counted from the year 0.
    init(month number: Int) { self.init(number / 12, number % 12 + 1, 1) }

    /// The month, counted from the year 0.
    var monthNumber: Int { year * 12 + month - 1 }

    /// A number that grows by 1 each day.
    var number: Int {
        // A year begins with March, so that its last day is the one that not every year has.
        let (shifted, place) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * place + 2) / 5 + day - 1
    }

    /// The day before.
    var yesterday: CalendarDay {
        guard day == 1 else { return CalendarDay(year, month, day - 1) }
        let other = CalendarDay(month: monthNumber - 1)
        return CalendarDay(other.year, other.month, number - other.number)
    }

    var tomorrow: CalendarDay {
        let next = CalendarDay(month: monthNumber + 1)
        return number + 1 == next.number ? next : CalendarDay(year, month, day + 1)
    }

    /// `2026-11`.
    var monthText: String { "\(year)-\(month < 10 ? "0" : "")\(month)" }

    /// `2026-11-22`.
    var text: String { "\(monthText)-\(day < 10 ? "0" : "")\(day)" }

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
