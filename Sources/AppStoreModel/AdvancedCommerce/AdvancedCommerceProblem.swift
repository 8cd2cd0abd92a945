/// A rule of Apple's that the body of an Advanced Commerce request breaks.
package struct AdvancedCommerceProblem: Error, Equatable, Sendable {
    /// The place of the value, such as `items[0].SKU`; in the value that is checked, such as `[0].SKU`, before ``inside(_:)``.
    package private(set) var path: String
    /// Apple's name of the error, such as `SKULengthExceededError`; a name of ours where Apple documents no error.
    package let rule: String
    /// What is wrong, and what is right, as a sentence without the path.
    package let detail: String

    package init(_ path: String, _ rule: String, _ detail: String) {
        self.path = path
        self.rule = rule
        self.detail = detail
    }

    package init(_ path: String, _ code: AppleErrorCode, _ detail: String) {
        self.init(path, code.advancedCommerceName, "\(detail) (Apple's \(code.rawValue))")
    }

    /// The same problem with the path from outside of the value that is called `name`.
    ///
    /// A path is made only for a problem, because nearly all values have none.
    func inside(_ name: String) -> Self {
        var problem = self
        problem.path = name + path
        return problem
    }

    /// The same problem with the path in a whole request, which has no name.
    func inRequest() -> Self {
        var problem = self
        problem.path = path.isEmpty ? "the request" : String(path.dropFirst())
        return problem
    }

    /// The path and the detail.
    package var sentence: String { "\(path) \(detail)" }

    /// The rule for JSON of another type than Apple documents.
    package static let wrongType = "wrong_type"
    /// The rule for a member that Apple does not document.
    package static let unknownField = "unknown_field"
}
