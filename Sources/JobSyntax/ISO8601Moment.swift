package import AppStoreModel
import Basics

/// Reads an ISO 8601 date and time, such as `2026-01-31T08:30:00Z` or `2026-01-31T09:30:00.250+01:00`.
package enum ISO8601Moment: Equatable {
    case moment(UnixMilliseconds)
    /// A valid date without a time zone, and how to write it with one.
    case withoutZone(suggestion: String)

    /// `nil` when the text is not a date of the years 1970 to 9999.
    package init?(_ text: String) {
        var rest = text.utf8[...]
        guard let year = rest.takeNumber(digits: 4), rest.take("-"), let month = rest.takeNumber(digits: 2),
            rest.take("-"), let day = rest.takeNumber(digits: 2),
            year >= 1970, let days = daysSince1970(year: Int64(year), month: Int64(month), day: Int64(day))
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
        let minutes = (days * 24 + Int64(hour)) * 60 + Int64(minute - offsetMinutes)
        self = .moment(UnixMilliseconds(rawValue: minutes * 60_000 + Int64(milliseconds)))
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
        guard number.count == digits, number.allSatisfy(isDigit) else { return nil }
        removeFirst(digits)
        return number.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The fraction of a second in whole milliseconds; zero if there is none.
    fileprivate mutating func takeFraction() -> Int? {
        guard take(".") else { return 0 }
        let digits = prefix(while: isDigit)
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
