import Testing

@testable import Postgres

struct ConnectionSettingsTests {
    @Test(arguments: [
        ("host=a", 15), ("host=a connect_timeout=7", 7), ("host=a,b,c connect_timeout=7", 21),
        ("postgresql://a/db?connect_timeout=9223372036854775807", 3_600),
        ("postgresql://a,b/db?connect_timeout=9223372036854775807", 7_200),
        ("host=a connect_timeout=99999999999999999999", 15), ("host=a connect_timeout=0", 15),
        ("host=a connect_timeout=-9223372036854775808", 15), ("host=a connect_timeout=soon", 15),
    ])
    func `connecting has a time limit with every connection string`(conninfo: String, seconds: Int) throws {
        #expect(try ConnectionSettings(conninfo: conninfo).timeout == .seconds(seconds))
    }

    @Test(arguments: [
        ("host=a", "8000"), ("host=a connect_timeout=60", "8000"), ("host=a tcp_user_timeout=30000", "30000"),
    ])
    func `a server that takes nothing in is given up within eight seconds unless asked otherwise`(
        conninfo: String,
        milliseconds: String
    ) throws {
        let settings = try ConnectionSettings(conninfo: conninfo)
        let found = unsafe settings.withCStrings { keywords, values in
            var found: [String] = []
            var index = 0
            while let keyword = unsafe keywords[index], let value = unsafe values[index] {
                if unsafe String(cString: keyword) == "tcp_user_timeout" { unsafe found.append(String(cString: value)) }
                index += 1
            }
            return found
        }
        #expect(found == [milliseconds])
    }

    @Test(arguments: [
        ("host=a", "storeledger run nightly-sync", "storeledger run nightly-sync"),
        ("host=a", String(repeating: "x", count: 80), String(repeating: "x", count: 63)),
        ("host=a", String(repeating: "\u{20AC}", count: 30), String(repeating: "\u{20AC}", count: 21)),
        ("host=a", "x" + String(repeating: "\u{20AC}", count: 30), "x" + String(repeating: "\u{20AC}", count: 20)),
    ])
    func `the name of a session has as many whole characters as PostgreSQL keeps`(
        conninfo: String,
        name: String,
        kept: String
    ) throws {
        let settings = try ConnectionSettings(conninfo: conninfo, applicationName: name)
        #expect(settings["fallback_application_name"] == kept)
    }
}
