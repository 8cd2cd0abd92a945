import AppStoreModel

/// Reads an ISO 8601 date and time, such as `2026-01-31T08:30:00Z` or `2026-01-31T09:30:00.250+01:00`.
enum ISO8601Moment: Equatable {
    case moment(UnixMilliseconds)
    /// A valid date without a time zone, and how to write it with one.
    case withoutZone(suggestion: String)

    /// `nil` when the text is not a date of the years 1970 to 9999.
    init?(_ text: String) {
        var rest = text.utf8[...]
        guard let year = rest.takeNumber(digits: 4), rest.take("-"), let month = rest.takeNumber(digits: 2),
            rest.take("-"), let day = rest.takeNumber(digits: 2),
            let days = daysSince1970(year: year, month: month, day: day)
        else { return nil }
        guard !rest.isEmpty else {
            self = .withoutZone(suggestion: text + "T00:00:00Z")
            return
        }
        guard rest.take("T"), let hour = rest.takeNumber(digits: 2), hour < 24, rest.take(":"),
            let minute = rest.takeNumber(digits: 2), minute < 60
        else { return nil }
        var milliseconds = 0
        if rest.take(":") {
            guard let second = rest.takeNumber(digits: 2), second < 60, let fraction = rest.takeFraction() else {
                return nil
            }
            milliseconds = second * 1_000 + fraction
        }
        guard !rest.isEmpty else {
            self = .withoutZone(suggestion: text + "Z")
            return
        }
        guard let offsetMinutes = rest.takeZone(), rest.isEmpty else { return nil }
        let minutes = (days * 24 + hour) * 60 + minute - offsetMinutes
        self = .moment(UnixMilliseconds(rawValue: Int64(minutes) * 60_000 + Int64(milliseconds)))
    }
}

extension Substring.UTF8View {
    fileprivate mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    fileprivate mutating func takeNumber(digits: Int) -> Int? {
        let number = prefix(digits)
        guard number.count == digits, number.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        removeFirst(digits)
        return number.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The fraction of a second in whole milliseconds; zero if there is none.
    fileprivate mutating func takeFraction() -> Int? {
        guard take(".") else { return 0 }
        let digits = prefix { (0x30...0x39).contains($0) }
        guard (1...9).contains(digits.count) else { return nil }
        removeFirst(digits.count)
        return (0..<3).reduce(0) { sum, place in
            let digit = digits.dropFirst(place).first.map { Int($0 - 0x30) } ?? 0
            return sum * 10 + digit
        }
    }

    /// Minutes east of Greenwich.
    fileprivate mutating func takeZone() -> Int? {
        if take("Z") { return 0 }
        let isEast = first == UInt8(ascii: "+")
        guard take("+") || take("-"), let hours = takeNumber(digits: 2), hours < 24, take(":"),
            let minutes = takeNumber(digits: 2), minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }
}

private func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
    guard year >= 1970, (1...12).contains(month) else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...lengths[month - 1]).contains(day) else { return nil }
    func leapDays(before year: Int) -> Int { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 }
    let years = (year - 1970) * 365 + leapDays(before: year) - leapDays(before: 1970)
    return years + lengths.prefix(month - 1).reduce(0, +) + day - 1
}
