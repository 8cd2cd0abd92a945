import Basics

/// The part of one response that has been received, within the limits.
struct PartialResponse {
    let limits: TransportConfiguration
    private(set) var headers: [HTTPHeader] = []
    private(set) var body: [UInt8] = []
    /// Whether the final response's headers are complete.
    private(set) var hasAllHeaders = false
    /// Why the exchange was ended from this side.
    private(set) var fault: TransportFault?

    private var isInterim = false
    private var headerBytes = 0
    private var headerFields = 0

    init(limits: TransportConfiguration = TransportConfiguration()) {
        self.limits = limits
    }

    /// Appends a piece of the decoded body.
    ///
    /// - Returns: `false` when the exchange must end; ``fault`` says why.
    mutating func take(body chunk: UnsafeRawBufferPointer) -> Bool {
        guard body.count + chunk.count <= limits.maximumBodyBytes else {
            return refuse(.bodyTooLarge, "The body is larger than \(limits.maximumBodyBytes) bytes.")
        }
        unsafe body.append(contentsOf: chunk)
        crashPoint(.bodyPieceReceived)
        return true
    }

    /// Handles one line of a header section: a status line, a field, the empty line at the end, or a trailer.
    ///
    /// - Returns: `false` when the exchange must end; ``fault`` says why.
    mutating func take(headerLine bytes: UnsafeRawBufferPointer) -> Bool {
        crashPoint(.responseBegun)
        headerBytes += bytes.count
        guard headerBytes <= limits.maximumHeaderBytes else {
            return refuse(.headersTooLarge, "The headers are larger than \(limits.maximumHeaderBytes) bytes.")
        }
        let line = unsafe String(decoding: bytes, as: UTF8.self).trimmingLineEnd()
        if line.hasPrefix("HTTP/") {
            // Another status line follows an interim response, whose fields are ignored.
            headers = []
            hasAllHeaders = false
            isInterim = line.split(separator: " ").dropFirst().first?.first == "1"
            return true
        }
        if line.isEmpty { return endHeaders() }
        headerFields += 1
        guard headerFields <= limits.maximumHeaderFields else {
            return refuse(.headersTooLarge, "There are more than \(limits.maximumHeaderFields) header fields.")
        }
        // Lines after the empty line are trailers: they count towards the limits and are ignored.
        if !hasAllHeaders { keep(field: line) }
        return true
    }

    private mutating func keep(field line: Substring) {
        if line.first == " " || line.first == "\t", let folded = headers.popLast() {
            headers.append(HTTPHeader(folded.name, folded.value + " " + line.trimmingBlanks()))
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].trimmingBlanks()
            headers.append(HTTPHeader(String(line[..<colon].trimmingBlanks()), String(value)))
        }
    }

    private mutating func endHeaders() -> Bool {
        hasAllHeaders = !isInterim
        // libcurl decodes every encoding it supports, even one that was not requested.
        let codings = headers.values(of: "Content-Encoding").map { $0.lowercased() }
        guard codings.allSatisfy({ ["gzip", "x-gzip", "identity", ""].contains($0) }) else {
            return refuse(.protocolError, "The body has a Content-Encoding that was not requested.")
        }
        // libcurl would use the last header.
        guard Set(headers.values(of: "Content-Length")).count <= 1 else {
            return refuse(.protocolError, "There are two different Content-Length headers.")
        }
        return true
    }

    private mutating func refuse(_ reason: TransportFault.Reason, _ detail: String) -> Bool {
        fault = TransportFault(reason, detail)
        return false
    }
}

extension StringProtocol {
    /// Without the CR and LF at the end.
    ///
    /// Works on scalars, because CR LF is one character.
    fileprivate func trimmingLineEnd() -> Substring {
        var scalars = Substring(self).unicodeScalars
        while let last = scalars.last, last == "\r" || last == "\n" { scalars.removeLast() }
        return Substring(scalars)
    }

    fileprivate func trimmingBlanks() -> Substring {
        var scalars = Substring(self).unicodeScalars
        while let last = scalars.last, last == " " || last == "\t" { scalars.removeLast() }
        while let first = scalars.first, first == " " || first == "\t" { scalars.removeFirst() }
        return Substring(scalars)
    }
}
