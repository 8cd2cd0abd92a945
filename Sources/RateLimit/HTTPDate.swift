package import AppStoreModel
import Basics

/// The date of an HTTP header: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Only the form that RFC 9110, section 5.6.7 allows servers to send is read, not the two obsolete ones.
package enum HTTPDate {
    /// The moment of a raw `Date` header; `nil` if the date is missing or before July 2017.
    ///
    /// A server whose clock was never set answers with 1970.
    package static func ofServer(_ rawValue: String?) -> UnixMilliseconds? {
        rawValue.flatMap(parse).flatMap { $0.rawValue > 1_500_000_000_000 ? $0 : nil }
    }

    /// Returns `nil` unless `text` names an existing moment.
    ///
    /// The weekday is not compared with the date.
    package static func parse(_ text: String) -> UnixMilliseconds? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, weekdays.contains(String(words[0])), words[5] == "GMT",
            let day = number(words[1], digits: 2), let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], digits: 4), year >= 1970
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3,
            let hour = number(clock[0], digits: 2), hour < 24,
            let minute = number(clock[1], digits: 2), minute < 60,
            // 60 is a leap second. UNIX time counts it as the next second.
            let second = number(clock[2], digits: 2), second <= 60,
            let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
        else { return nil }
        return UnixMilliseconds(rawValue: (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000)
    }

    private static let weekdays: Set = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        // `Int64` alone would accept "+6" too.
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
