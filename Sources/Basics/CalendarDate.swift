/// The days from 1970-01-01 to a date of the Gregorian calendar; negative for earlier dates.
///
/// The calendar is extended to dates before 1582, as PostgreSQL does.
///
/// - Parameters:
///   - year: 1 to 999,999.
///   - month: 1 to 12.
///   - day: 1 to the length of the month.
/// - Returns: `nil` for a date that does not exist.
package func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...999_999).contains(year), (1...12).contains(month), (1...lengths[Int(month) - 1]).contains(day) else {
        return nil
    }
    let yearsBefore = year - 1
    // 719,162 days lie between 0001-01-01 and 1970-01-01.
    let newYear = yearsBefore * 365 + yearsBefore / 4 - yearsBefore / 100 + yearsBefore / 400 - 719_162
    return newYear + lengths.prefix(Int(month) - 1).reduce(0, +) + day - 1
}
