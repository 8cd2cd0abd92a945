import AppStoreModel
import RateLimit
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Mon, 29 Feb 2016 23:59:59 GMT", 1_456_790_399),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Sat, 21 Nov 2026 00:00:00 GMT", 1_795_219_200),
        ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
        ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func `CK9 a date is read to the second, beyond 2038 and 2100 too`(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text) == UnixMilliseconds(rawValue: seconds * 1_000))
    }

    @Test(arguments: [
        "", " ", "now", "2026-11-21T00:00:00Z",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 nov 1994 08:49:37 GMT", "XYZ, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:00:61 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 30 Feb 2000 08:49:37 GMT",
        "Mon, 29 Feb 2100 00:00:00 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Wed, 31 Dec 1969 23:59:59 GMT",
    ])
    func `a text that is not a date is refused`(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
