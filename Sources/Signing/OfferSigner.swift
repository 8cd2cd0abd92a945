import AppStoreModel
import Basics
import CSVFormat
import SignedData

/// Signs rows of a CSV file of offers.
struct OfferSigner: Sendable {
    private enum Method: Sendable {
        case promotionalOffer(StoreKitRequestSigner)
        case introductoryOfferEligibility(StoreKitRequestSigner)
        case promotionalOfferSignature(PromotionalOfferSigner)
    }

    let header: OfferHeader
    private let kind: SignatureKind
    private let method: Method

    init(_ kind: SignatureKind, header: OfferHeader, key: RequestKey) {
        self.kind = kind
        self.header = header
        switch kind {
        case .promotionalOffer: method = .promotionalOffer(key.signer(.promotionalOffer))
        case .introductoryOfferEligibility:
            method = .introductoryOfferEligibility(key.signer(.introductoryOfferEligibility))
        case .promotionalOfferSignature:
            method = .promotionalOfferSignature(
                PromotionalOfferSigner(key: key.key, keyId: key.keyId, bundleId: key.bundleId)
            )
        case .advancedCommerce: preconditionFailure("Advanced Commerce requests are lines of JSON")
        }
    }

    /// The header of the output.
    func outputHeader() throws -> [UInt8] {
        let names = header.names + OfferColumn.added(by: kind)
        var rows = CSVRows(columnCount: names.count)
        try rows.appendHeader(names)
        return rows.take()
    }

    /// Signs rows, and repeats their cells in the output.
    ///
    /// - Parameters:
    ///   - now: The time of the signatures.
    ///   - isSigning: Whether valid rows are signed; if not, rows are only checked.
    /// - Returns: The rows of the output, or the rules that rows break.
    /// - Throws: ``SignedData/SigningError``.
    func sign(_ rows: [OfferRow], at now: UnixMilliseconds, isSigning: Bool) throws -> SignedRows {
        var signed = SignedRows(count: rows.count)
        var nonces = RandomUUIDs()
        var output = CSVRows(columnCount: header.names.count + OfferColumn.added(by: kind).count)
        for row in rows {
            let values: [String?]
            do throws(RowProblem) {
                values = try header.values(of: row)
            } catch {
                signed.problems.append(error)
                continue
            }
            guard isSigning, signed.problems.isEmpty else { continue }
            try append(row, values, at: now, nonces: &nonces, to: &output)
        }
        signed.output = output.take()
        return signed
    }

    private func append(
        _ row: OfferRow,
        _ values: [String?],
        at now: UnixMilliseconds,
        nonces: inout RandomUUIDs,
        to output: inout CSVRows
    ) throws {
        for place in header.names.indices {
            if place < row.cells.count, !row.cells[place].isEmpty {
                output.append(text: row.cells[place].utf8.span)
            } else {
                output.appendNull()
            }
        }
        // Each signature is stored in a variable: Swift 6.3 cannot take the span of the result of a call that can throw.
        switch method {
        case .promotionalOffer(let signer):
            var claims: [StoreKitRequestSigner.Claim] = [
                .productId(values[0] ?? ""), .offerIdentifier(values[1] ?? ""),
            ]
            if let transactionId = values[2] { claims.append(.transactionId(transactionId)) }
            let text = try signer.sign(claims, at: now, nonces: &nonces)
            output.append(literal: text.span)
        case .introductoryOfferEligibility(let signer):
            let claims: [StoreKitRequestSigner.Claim] = [
                .productId(values[0] ?? ""), .allowIntroductoryOffer(values[1] == "true"),
                .transactionId(values[2] ?? ""),
            ]
            let text = try signer.sign(claims, at: now, nonces: &nonces)
            output.append(literal: text.span)
        case .promotionalOfferSignature(let signer):
            let signature = try signer.sign(
                productId: values[0] ?? "",
                offerIdentifier: values[1] ?? "",
                applicationUsername: values[2] ?? "",
                at: now,
                nonces: &nonces
            )
            output.append(literal: signature.text.span)
            output.append(text: signature.nonce.utf8.span)
            output.append(literal: String(signature.timestamp).utf8.span)
            output.append(text: signature.keyIdentifier.utf8.span)
        }
        try output.endRow()
    }
}
