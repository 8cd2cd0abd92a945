import CLibCurl

/// libcurl's easy handle: performs one exchange at a time and is reused for the next.
///
/// Not `Sendable`: it is created, used and freed on the transport's thread.
@safe
final class CurlEasy {
    /// The address of the handle, by which libcurl reports a finished exchange.
    typealias ID = UInt

    let handle: UnsafeMutableRawPointer
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var received = PartialResponse()
    /// How often libcurl was about to send the request; it may send it only once.
    private var sendAttempts = 0
    /// The request is not sent after this moment.
    private var sendDeadline: ContinuousClock.Instant?
    private var isTooLate = false

    var id: ID { ID(bitPattern: unsafe handle) }

    init() throws(TransportFault) {
        guard let handle = unsafe curl_easy_init() else {
            throw TransportFault(.unavailable, "libcurl has no memory for a request.")
        }
        unsafe self.handle = handle
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headerList)
        unsafe errorText.deallocate()
    }

    /// Sets all options for one request and removes the options of earlier requests.
    func prepare(_ request: HTTPRequest, _ settings: CurlSettings) throws(TransportFault) {
        forget()
        received = PartialResponse(limits: settings.limits)
        sendDeadline = request.departure.by
        for (option, value) in settings.options { try set(option, value) }
        // Not in the list above, because only newer versions have this option.
        guard unsafe storeledger_curl_set_quick_exit(handle) == CURLE_OK else {
            throw TransportFault(.unavailable, "libcurl refuses the option to end without waiting for name lookups.")
        }
        try set(CURLOPT_URL, .string(request.url))
        // Waiting for a connection to multiplex is useful only where HTTP/2 is possible.
        try set(CURLOPT_PIPEWAIT, .long(request.url.hasPrefix("https:") ? 1 : 0))
        try set(CURLOPT_FRESH_CONNECT, .long(request.departure.onNewConnection ? 1 : 0))
        switch request.method {
        case .get: try set(CURLOPT_HTTPGET, .long(1))
        case .head: try set(CURLOPT_NOBODY, .long(1))
        case .delete:
            try set(CURLOPT_HTTPGET, .long(1))
            try set(CURLOPT_CUSTOMREQUEST, .string(request.method.rawValue))
        case .post: try setBody(request.body ?? [])
        case .put:
            try setBody(request.body ?? [])
            try set(CURLOPT_CUSTOMREQUEST, .string(request.method.rawValue))
        }
        try setHeaders(of: request)
        if let signature = request.signature {
            try set(CURLOPT_AWS_SIGV4, .string("aws:amz:\(signature.region):s3"))
            try set(CURLOPT_USERNAME, .string(signature.accessKey))
            try set(CURLOPT_PASSWORD, .string(signature.secretKey))
        }
        try setCallbacks()
        try setSocketOptions(settings)
    }

    /// Removes the exchange's data, such as its bearer token.
    ///
    /// Open connections belong to the multi handle and stay open.
    func forget() {
        unsafe curl_easy_reset(handle)
        unsafe curl_slist_free_all(headerList)
        unsafe headerList = nil
        unsafe errorText.pointee = 0
        received = PartialResponse()
        sendAttempts = 0
        sendDeadline = nil
        isTooLate = false
    }

    /// The result of the finished exchange; must be read before ``forget()``.
    func result(of code: CURLcode) -> Result<HTTPResponse, TransportFault> {
        if let fault = received.fault { return .failure(fault) }
        guard !isTooLate else {
            return .failure(TransportFault(.tooLate, "No connection was made before the request's deadline."))
        }
        guard sendAttempts <= 1 else {
            return .failure(
                TransportFault(.keptConnectionLost, "A reused connection ended before the response began.")
            )
        }
        guard code == CURLE_OK else { return .failure(fault(for: code)) }
        // libcurl treats the end of the connection inside the headers as the end of the response.
        guard received.hasAllHeaders else {
            return .failure(TransportFault(.connectionLost, "The connection ended inside the response's headers."))
        }
        return .success(
            HTTPResponse(
                status: long(CURLINFO_RESPONSE_CODE),
                headers: received.headers,
                body: received.body,
                httpVersion: httpVersion
            )
        )
    }

    private func fault(for code: CURLcode) -> TransportFault {
        let text = unsafe String(cString: errorText.pointee == 0 ? curl_easy_strerror(code) : UnsafePointer(errorText))
        let progress = ExchangeProgress(
            hasConnected: offset(CURLINFO_PRETRANSFER_TIME_T) > 0,
            hasAllHeaders: received.hasAllHeaders,
            elapsed: .microseconds(offset(CURLINFO_TOTAL_TIME_T)),
            allowed: received.limits.totalTimeout
        )
        return TransportFault(code, text, progress)
    }

    private func setBody(_ body: [UInt8]) throws(TransportFault) {
        try set(CURLOPT_POST, .long(1))
        // The size must be set first: libcurl copies that many bytes when it gets the pointer.
        try set(CURLOPT_POSTFIELDSIZE_LARGE, .offset(Int64(body.count)))
        var body = body
        let code = unsafe body.withUnsafeMutableBytes {
            unsafe storeledger_curl_set_pointer(
                handle,
                CURLOPT_COPYPOSTFIELDS,
                $0.baseAddress ?? UnsafeMutableRawPointer(errorText)
            )
        }
        try check(code, CURLOPT_COPYPOSTFIELDS)
    }

    private func setHeaders(of request: HTTPRequest) throws(TransportFault) {
        // For libcurl, "Name:" means "do not send it" and "Name;" means "send it empty".
        var lines = request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        // Without this line, libcurl calls the body of a POST or PUT a form.
        let mayHaveBody = request.method == .post || request.method == .put
        if mayHaveBody, request.headers.values(of: "Content-Type").isEmpty { lines.append("Content-Type:") }
        for line in lines {
            guard let extended = unsafe curl_slist_append(headerList, line) else {
                throw TransportFault(.unavailable, "libcurl has no memory for a header.")
            }
            unsafe headerList = extended
        }
        try check(unsafe storeledger_curl_set_list(handle, CURLOPT_HTTPHEADER, headerList), CURLOPT_HTTPHEADER)
    }

    private func setCallbacks() throws(TransportFault) {
        let me = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(unsafe storeledger_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText), CURLOPT_ERRORBUFFER)
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA] {
            try check(unsafe storeledger_curl_set_pointer(handle, option, me), option)
        }
        // Each callback returns the number of bytes it accepted; another number ends the exchange.
        let receiveBody: storeledger_curl_sink = { bytes, size, count, me in
            guard let bytes = unsafe bytes, let me = unsafe me else { return 0 }
            let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe Unmanaged<CurlEasy>.fromOpaque(me).takeUnretainedValue().received.take(body: chunk)
                ? chunk.count : 0
        }
        let receiveHeader: storeledger_curl_sink = { bytes, size, count, me in
            guard let bytes = unsafe bytes, let me = unsafe me else { return 0 }
            let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
            return unsafe Unmanaged<CurlEasy>.fromOpaque(me).takeUnretainedValue().received.take(headerLine: line)
                ? line.count : 0
        }
        // libcurl sends a request again by itself when a reused connection ends without an answer. Each request counts
        // against Apple's limit, so the caller must decide, and this callback stops the second attempt.
        let beforeSending: curl_prereq_callback = { me, _, _, _, _ in
            guard let me = unsafe me else { return CURL_PREREQFUNC_ABORT }
            let easy = unsafe Unmanaged<CurlEasy>.fromOpaque(me).takeUnretainedValue()
            easy.sendAttempts += 1
            // The last check before the bytes are sent: the process or the machine can be suspended at any earlier point.
            if let deadline = easy.sendDeadline, easy.sendAttempts == 1 { easy.isTooLate = .now > deadline }
            return easy.sendAttempts > 1 || easy.isTooLate ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK
        }
        try check(unsafe storeledger_curl_set_departure(handle, beforeSending), CURLOPT_PREREQFUNCTION)
        try check(unsafe storeledger_curl_set_sink(handle, CURLOPT_WRITEFUNCTION, receiveBody), CURLOPT_WRITEFUNCTION)
        try check(
            unsafe storeledger_curl_set_sink(handle, CURLOPT_HEADERFUNCTION, receiveHeader),
            CURLOPT_HEADERFUNCTION
        )
    }

    private func setSocketOptions(_ settings: CurlSettings) throws(TransportFault) {
        let timeout = unsafe UnsafeMutableRawPointer(bitPattern: settings.unacknowledgedTimeout)
        try check(unsafe storeledger_curl_set_pointer(handle, CURLOPT_SOCKOPTDATA, timeout), CURLOPT_SOCKOPTDATA)
        let setUp = unsafe storeledger_curl_set_socket_setup(handle, SocketOptions.setUp)
        try check(setUp, CURLOPT_SOCKOPTFUNCTION)
        let closing = unsafe storeledger_curl_set_socket_closing(handle, SocketOptions.closing)
        try check(closing, CURLOPT_CLOSESOCKETFUNCTION)
    }

    private func set(_ option: CURLoption, _ value: CurlSettings.Value) throws(TransportFault) {
        let code =
            switch value {
            case .long(let value): unsafe storeledger_curl_set_long(handle, option, value)
            case .offset(let value): unsafe storeledger_curl_set_offset(handle, option, curl_off_t(value))
            case .string(let value): unsafe storeledger_curl_set_string(handle, option, value)
            case .none: unsafe storeledger_curl_set_string(handle, option, nil)
            }
        try check(code, option)
    }

    /// Throws when libcurl rejected an option, because most options are needed for security.
    private func check(_ code: CURLcode, _ option: CURLoption) throws(TransportFault) {
        guard code == CURLE_OK else {
            let cause = unsafe String(cString: curl_easy_strerror(code))
            throw TransportFault(.unavailable, "libcurl refuses the option \(option.rawValue): \(cause).")
        }
    }

    private var httpVersion: String {
        switch long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_1_1): "1.1"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        default: "3"
        }
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        unsafe storeledger_curl_get_long(handle, info, &value)
        return value
    }

    private func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        unsafe storeledger_curl_get_offset(handle, info, &value)
        return Int64(value)
    }
}
