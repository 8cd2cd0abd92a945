import FoundationEssentials
import StrictJSON
import Testing

/// The public JSONTestSuite, if it is next to the checkout.
struct JSONTestSuiteTests {
    /// What StoreLedger refuses although RFC 8259 allows it, and why.
    private static let stricter: [String: StrictJSONError.Reason] = [
        "y_object_duplicated_key.json": .duplicateKey,
        "y_object_duplicated_key_and_value.json": .duplicateKey,
        "y_object_escaped_null_in_key.json": .nul,
        "y_string_null_escape.json": .nul,
    ]

    /// What RFC 8259 leaves open and StoreLedger accepts; it refuses every other `i_` file.
    private static let acceptedByChoice: Set<String> = [
        "i_number_double_huge_neg_exp.json", "i_number_neg_int_huge_exp.json",
        "i_number_pos_double_huge_exp.json", "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json", "i_number_too_big_neg_int.json", "i_number_too_big_pos_int.json",
        "i_number_very_big_negative_int.json", "i_structure_500_nested_arrays.json",
    ]

    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "shared/vectors/json-test-suite/test_parsing")

    private static let names: [String] =
        // Without the vectors there is nothing to read; the test is skipped then.
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }
        .sorted()

    private static func outcome(of name: String) throws -> StrictJSONError.Reason? {
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
        do throws(StrictJSONError) {
            _ = try StrictJSON.parse(bytes, depthLimit: 1_000)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(.enabled(if: !names.isEmpty, "the JSONTestSuite vectors are not beside the checkout"))
    func `N22 all 318 files of JSONTestSuite have the outcome RFC 8259 or our stricter list gives them`() throws {
        #expect(["y_", "n_", "i_"].map { kind in Self.names.count { $0.hasPrefix(kind) } } == [95, 188, 35])
        for name in Self.names {
            let outcome = try Self.outcome(of: name)
            switch name.prefix(2) {
            case "y_": #expect(outcome == Self.stricter[name], "\(name)")
            case "n_": #expect(outcome != nil, "\(name)")
            default:
                #expect(
                    (outcome == nil) == Self.acceptedByChoice.contains(name),
                    "\(name): \(String(describing: outcome))"
                )
            }
        }
    }
}
