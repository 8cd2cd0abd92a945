import FoundationEssentials
import Streams

/// The readable name of an item: an ID itself, or the two moments of a window of notifications.
package func itemName(_ key: String) -> String {
    let reading = WindowReading(itemKey: key)
    if reading == .failures { return "failed deliveries of the last seven days" }
    guard let window = key.wholeMatch(of: /([0-9]{1,15})\.\.([0-9]{1,15})#[0-9a-f]+(\+[a-z]+)?/),
        let start = Int64(window.1), let end = Int64(window.2)
    else { return key }
    let moments = [start, end].map { Date(timeIntervalSince1970: Double($0 / 1_000)).ISO8601Format() }
        .joined(separator: " to ")
    switch reading {
    case .second: return "\(moments), second reading"
    case .again: return "\(moments), read again for the receiver"
    case .first, .failures: return moments
    }
}
