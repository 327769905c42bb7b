"""A collector of OpenTelemetry for tests: takes OTLP over http/protobuf, and shows the spans that came."""
import http.server
import struct
import threading

try:  # the official definitions, if the test runs with them
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
except ImportError:
    trace_service_pb2 = None

KINDS = {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """{number: [values]} of a message."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise AssertionError(f"wire type {tag & 7}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def attributes(pairs):
    found = {}
    for pair in map(fields, pairs):
        any_value = fields(pair[2][0])
        found[pair[1][0].decode()] = any_value[1][0].decode() if 1 in any_value else any_value[3][0]
    return found


def read(body):
    """The spans of an ExportTraceServiceRequest, read by hand."""
    spans = []
    for of_resource in map(fields, fields(body)[1]):
        resource = attributes(fields(of_resource[1][0])[1])
        for span in (fields(one) for of_scope in of_resource[2] for one in fields(of_scope)[2]):
            status = fields(span[15][0]) if 15 in span else {}
            spans.append({
                "trace": span[1][0].hex(), "id": span[2][0].hex(), "parent": span.get(4, [b""])[0].hex(), "name": span[5][0].decode(),
                "kind": KINDS[span[6][0]], "start": span[7][0], "end": span[8][0], "attributes": attributes(span.get(9, [])),
                "links": [(fields(link)[1][0].hex(), fields(link)[2][0].hex()) for link in span.get(13, [])],
                "error": status[2][0].decode() if status.get(3) == [2] else None, "resource": resource})
    return spans


def read_officially(body):
    """The same, read by the official package, which also refuses text that is not UTF-8."""
    request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
    assert request.SerializeToString() and len(request.SerializeToString()) == len(body), "it has fields that the definitions lack"

    def named(pairs):
        return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}

    return [{"trace": span.trace_id.hex(), "id": span.span_id.hex(), "parent": span.parent_span_id.hex(), "name": span.name,
             "kind": KINDS[span.kind], "start": span.start_time_unix_nano, "end": span.end_time_unix_nano,
             "attributes": named(span.attributes), "links": [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
             "error": span.status.message if span.status.code == 2 else None, "resource": named(of_resource.resource.attributes)}
            for of_resource in request.resource_spans for of_scope in of_resource.scope_spans for span in of_scope.spans]


class Collector:
    """Answers with `status`; keeps the spans of requests that it answers with 200."""

    def __init__(self):
        self.status = 200
        self.requests = []  # (path, headers)
        self.taken = []
        self.lock = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):  # noqa: N805
                self.take(handler, handler.rfile.read(int(handler.headers["Content-Length"])))
                handler.send_response(self.status)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            def log_message(handler, *args):  # noqa: N805
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, handler, body):
        with self.lock:
            self.requests.append((handler.path, dict(handler.headers)))
            if self.status == 200:
                self.taken.append(body)

    def spans(self):
        """All, in the order of their ends."""
        with self.lock:
            bodies = list(self.taken)
        found = [span for body in bodies for span in read(body)]
        if trace_service_pb2:
            official = [span for body in bodies for span in read_officially(body)]
            assert found == official, f"{found} is not {official}"
        return sorted(found, key=lambda span: span["end"])

    def close(self):
        self.server.shutdown()
        self.server.server_close()
