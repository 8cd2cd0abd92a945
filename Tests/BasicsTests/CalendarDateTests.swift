import Basics
import FoundationEssentials
import Testing

struct CalendarDateTests {
    @Test func `days agree with Foundation's calendar over every leap rule`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for year in [1583, 1600, 1700, 1899, 1900, 1969, 1970, 1972, 1999, 2000, 2001, 2024, 2026, 2100, 2400, 9999] {
            for month in 1...12 {
                for day in [1, 15, 28] {
                    let components = DateComponents(year: year, month: month, day: day)
                    let date = try #require(calendar.date(from: components))
                    let days = daysSince1970(year: Int64(year), month: Int64(month), day: Int64(day))
                    #expect(days == Int64((date.timeIntervalSince1970 / 86_400).rounded(.down)))
                }
            }
        }
    }

    @Test(
        arguments: [
            (2025, 2, 29), (1900, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 0, 1), (2026, 1, 0), (2026, 1, 32),
            (0, 1, 1), (1_000_000, 1, 1),
        ] as [(Int64, Int64, Int64)]
    )
    func `a date that does not exist has no number of days`(year: Int64, month: Int64, day: Int64) {
        #expect(daysSince1970(year: year, month: month, day: day) == nil)
    }

    @Test func `a leap day exists in years divisible by four, but only in centuries divisible by 400`() {
        #expect(daysSince1970(year: 2000, month: 2, day: 29) == 11_016)
        #expect(daysSince1970(year: 2024, month: 2, day: 29) == 19_782)
    }
}
