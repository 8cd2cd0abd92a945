import Basics
import Hashing

/// Apple's root certificates, the trust anchors of everything the App Store signs.
package enum AppleRootCA {
    /// Apple Root CA - G3 in DER, valid until 2039-04-30.
    ///
    /// On first use it is compared with the published SHA-256; the process ends when they differ.
    /// Source: Apple PKI, https://www.apple.com/certificateauthority/AppleRootCA-G3.cer
    package static let g3: [UInt8] = {
        let text = g3Base64.utf8.filter { $0 != UInt8(ascii: "\n") }
        guard let der = Base64.decodeStandard(text.span), SHA256.digest(of: der) == g3SHA256 else {
            preconditionFailure("The built-in copy of Apple Root CA - G3 was altered; this build cannot be trusted.")
        }
        return der
    }()

    /// SHA-256, hexadecimal, of every Apple root that any version of StoreLedger has contained.
    ///
    /// The records of one app in a ledger can belong to any of these roots. When Apple publishes a new root, add it
    /// here and to the trusted roots of jobs. Never remove one, because ledgers contain records that it signed.
    package static let fingerprints: Set<String> = [g3SHA256.hexadecimal]

    private static let g3SHA256: [UInt8] = [
        0x63, 0x34, 0x3A, 0xBF, 0xB8, 0x9A, 0x6A, 0x03, 0xEB, 0xB5, 0x7E, 0x9B, 0x3F, 0x5F, 0xA7, 0xBE,
        0x7C, 0x4F, 0x5C, 0x75, 0x6F, 0x30, 0x17, 0xB3, 0xA8, 0xC4, 0x88, 0xC3, 0x65, 0x3E, 0x91, 0x79,
    ]

    private static let g3Base64 = """
        MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwSQXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQL
        DB1BcHBsZSBDZXJ0aWZpY2F0aW9uIEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcNMTQwNDMw
        MTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBSb290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRp
        ZmljYXRpb24gQXV0aG9yaXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49AgEGBSuBBAAiA2IA
        BJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtfTjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqX
        l5dvMVztK517IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySrMA8GA1UdEwEB/wQFMAMBAf8w
        DgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gAMGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWT
        xnS4at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM6BgD56KyKA==
        """
}
