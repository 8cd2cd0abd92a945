import StrictJSON
import Testing

struct JSONNumberTests {
    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("1.0", nil), ("1e3", nil), ("9990.5", nil),
        ] as [(String, Int64?)]
    )
    func `N10 an integer is exact or it is none`(_ text: String, _ expected: Int64?) {
        #expect(JSONNumber(text: text).int64 == expected)
    }

    @Test(
        arguments: [
            ("1698148900000", 1_698_148_900_000), ("1697679936049.7297", 1_697_679_936_049),
            ("1.6981489E12", 1_698_148_900_000), ("1.6981489e+12", 1_698_148_900_000),
            ("16981489e5", 1_698_148_900_000),
            ("169814890000012e-2", 1_698_148_900_000), ("-1.5", -2), ("-1.0", -1), ("-0.5", -1), ("0.5", 0),
            ("5e-1", 0),
            ("1e-64", 0), ("-1e-64", -1), ("0e0", 0), ("0.0e64", 0), ("1e18", 1_000_000_000_000_000_000), ("1e19", nil),
            ("1e400", nil), ("1E131071", nil), ("1e-9223372036854775808", nil), ("1e99999999999999999999", nil),
            ("-62135769600000", -62_135_769_600_000),
        ] as [(String, Int64?)]
    )
    func `J37 a date with a fraction or an exponent is floored to a millisecond`(_ text: String, _ expected: Int64?) {
        #expect(JSONNumber(text: text).flooredInt64 == expected)
    }

    @Test(arguments: [
        ("1", true), ("-12345678901234567890.123456789e64", true), ("1e65", false), ("1E-65", false),
        ("1e131071", false), ("1e-9223372036854775808", false), ("1e99999999999999999999", false),
        (String(repeating: "9", count: 40), true),
        (String(repeating: "9", count: 41), false),
    ])
    func `a number that the database would expand is recognised`(_ text: String, _ isSafe: Bool) {
        #expect(JSONNumber(text: text).isSafeInDatabase == isSafe)
    }
}
