import AppStoreModel
import Basics
import SignedData
import StrictJSON

/// Signs Advanced Commerce requests, one JSON object a line.
struct RequestLineSigner: Sendable {
    private let signer: StoreKitRequestSigner
    private let allowsUnknown: Bool

    /// - Parameter allowsUnknown: Whether members that Apple does not document are signed, not refused.
    init(key: RequestKey, allowsUnknown: Bool) {
        signer = key.signer(.advancedCommerce)
        self.allowsUnknown = allowsUnknown
    }

    /// Checks and signs lines, and adds the member `signature` to each.
    ///
    /// The bytes of the line are signed as they are.
    ///
    /// - Parameters:
    ///   - now: The time of the signatures.
    ///   - isSigning: Whether valid lines are signed; if not, lines are only checked.
    /// - Returns: The lines of the output, or the rules that lines break.
    /// - Throws: ``SignedData/SigningError``.
    func sign(_ lines: [RequestLine], at now: UnixMilliseconds, isSigning: Bool) throws -> SignedRows {
        var signed = SignedRows(count: lines.count)
        if allowsUnknown { signed.unknownMembers = UnknownMembers() }
        var nonces = RandomUUIDs()
        // The line, the line in base64 twice (16 bytes for 9), and about 600 bytes of other claims, header and signature.
        signed.output.reserveCapacity(lines.reduce(0) { $0 + $1.json.count * 3 + 600 })
        for line in lines {
            if let problem = Self.problem(of: line, counting: &signed.unknownMembers) {
                signed.problems.append(problem)
                continue
            }
            guard isSigning, signed.problems.isEmpty else { continue }
            // The last byte is the closing brace of an object that is not empty.
            signed.output.append(contentsOf: line.json.dropLast())
            signed.output.append(contentsOf: #","signature":""#.utf8)
            try signer.append([.request(line.json)], at: now, nonces: &nonces, to: &signed.output)
            signed.output.append(contentsOf: "\"}\n".utf8)
        }
        return signed
    }

    /// The first rule that a line breaks.
    private static func problem(of line: RequestLine, counting unknown: inout UnknownMembers?) -> RowProblem? {
        do {
            let request = try StrictJSON.scan(line.json)
            guard unknown == nil || request["signature"] == nil else {
                return RowProblem(line.number, "signature is the member that the output adds; remove it from the input")
            }
            try InAppRequest.check(request, counting: &unknown)
            return nil
        } catch let problem as AdvancedCommerceProblem {
            // The output adds a signature, so no option signs one.
            let isSigned = (try? StrictJSON.scan(line.json))?["signature"] != nil
            let isUnknown = problem.rule == AdvancedCommerceProblem.unknownField
            let remedy = isUnknown && !isSigned ? "; --allow-unknown signs it" : ""
            return RowProblem(line.number, "\(problem.rule): \(problem.sentence)\(remedy)")
        } catch {
            return RowProblem(line.number, "\(error); a line must be one whole JSON object")
        }
    }
}
