import COpenSSL

/// Makes receipts of the shape of Apple's, for the simulator and for tests.
package struct AppReceiptBuilder: Sendable {
    package struct Purchase: Sendable {
        let transactionId: String
        let originalTransactionId: String?

        package init(_ transactionId: String, original: String?) {
            self.transactionId = transactionId
            originalTransactionId = original
        }
    }

    private let payload: [UInt8]

    /// - Parameters:
    ///   - environment: As attribute 0 has it: `Production`, `ProductionSandbox` or `Xcode`.
    ///   - padding: Bytes of an attribute without a meaning, for a larger receipt.
    package init(bundleId: String, environment: String, purchases: [Purchase], padding: Int = 0) {
        var attributes = [
            Self.attribute(0, Self.text(environment)), Self.attribute(2, Self.text(bundleId)),
            Self.attribute(4, [UInt8](repeating: 0x5A, count: padding)),
        ]
        attributes += purchases.map { purchase in
            let own = Self.attribute(1_703, Self.text(purchase.transactionId))
            let original = purchase.originalTransactionId.map { Self.attribute(1_705, Self.text($0)) }
            return Self.attribute(17, Self.element(DERTag.set, own + (original ?? [])))
        }
        payload = Self.element(DERTag.set, attributes.flatMap(\.self))
    }

    /// The receipt in DER, as Apple's servers write it.
    package func der(signedBy authority: CertificateAuthority) throws(CertificateError) -> [UInt8] {
        try signed(by: authority, isStreamed: false)
    }

    /// The receipt in BER with indefinite lengths and its content in parts, as Xcode writes it.
    package func ber(signedBy authority: CertificateAuthority) throws(CertificateError) -> [UInt8] {
        try signed(by: authority, isStreamed: true)
    }

    /// A transaction receipt from before app receipts, with an ID or without one.
    package static func oldReceipt(bundleId: String, transactionId: String?, encode: ([UInt8]) -> [UInt8]) -> [UInt8] {
        let ids = transactionId.map {
            "\t\"original-transaction-id\" = \"\($0)\";\n\t\"transaction-id\" = \"\($0)\";\n"
        }
        let info = "{\n\t\"bid\" = \"\(bundleId)\";\n\(ids ?? "")}"
        let encoded = String(decoding: encode(Array(info.utf8)), as: UTF8.self)
        return Array("{\n\t\"purchase-info\" = \"\(encoded)\";\n\t\"pod\" = \"100\";\n}".utf8)
    }

    private func signed(
        by authority: CertificateAuthority,
        isStreamed: Bool
    ) throws(CertificateError) -> [UInt8] {
        guard let leaf = try? Certificate(der: authority.leaf.der),
            let intermediate = try? Certificate(der: authority.intermediate.der),
            let others = unsafe ledger_certificates_new()
        else { throw CertificateError(.creationFailed(OpenSSLErrors.drain())) }
        defer { unsafe ledger_certificates_free(others) }
        _ = unsafe ledger_certificates_append(others, intermediate.pointer)
        // The stack has no reference.
        defer { withExtendedLifetime((leaf, intermediate)) {} }
        let flags = PKCS7_BINARY | PKCS7_NOATTR | (isStreamed ? PKCS7_STREAM : 0)
        let bytes = unsafe payload.withUnsafeBytes { buffer -> [UInt8] in
            guard let content = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return [] }
            defer { unsafe BIO_free(content) }
            guard let receipt = unsafe PKCS7_sign(leaf.pointer, authority.leaf.key.pointer, others, content, flags)
            else { return [] }
            defer { unsafe PKCS7_free(receipt) }
            guard isStreamed else { return OpenSSLBytes.collect { unsafe i2d_PKCS7(receipt, $0) } }
            guard let memory = unsafe BIO_new(BIO_s_mem()) else { return [] }
            defer { unsafe BIO_free(memory) }
            guard unsafe i2d_PKCS7_bio_stream(memory, receipt, content, flags) == 1 else { return [] }
            var start: UnsafeMutablePointer<CChar>?
            let count = unsafe ledger_memory_bytes(memory, &start)
            return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
        }
        guard !bytes.isEmpty else { throw CertificateError(.creationFailed(OpenSSLErrors.drain())) }
        return bytes
    }

    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        let number = type < 128 ? [UInt8(type)] : [UInt8(type >> 8), UInt8(type & 0xFF)]
        return element(
            DERTag.sequence,
            element(DERTag.integer, number) + element(DERTag.integer, [1]) + element(DERTag.octetString, value)
        )
    }

    private static func text(_ text: String) -> [UInt8] { element(DERTag.utf8String, Array(text.utf8)) }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        guard count >= 0x80 else { return [tag, UInt8(count)] + content }
        let length: [UInt8] = [count >> 16, count >> 8, count].map { UInt8($0 & 0xFF) }
        let shortest = length.drop { $0 == 0 }
        var header: [UInt8] = [tag, 0x80 | UInt8(shortest.count)]
        header += shortest
        return header + content
    }
}
