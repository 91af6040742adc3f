# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decodes the protobuf exposition format of Prometheus without a library, independently of the encoder in lib/view."""
import struct

TYPES = {0: "counter", 1: "gauge", 4: "histogram"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError(f"varint of more than 10 bytes at {at}")


def signed(value):
    return (value >> 1) ^ -(value & 1)


def fields(data):
    """Yields the number and the value of each field of a protobuf message. A value is an integer, a
    float or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            (value,) = struct.unpack_from("<d", data, at)
            at += 8
        elif kind == 2:
            size, at = varint(data, at)
            value = bytes(data[at:at + size])
            at += size
        else:
            raise ValueError(f"field {key >> 3} of kind {kind}")
        if at > len(data):
            raise ValueError(f"field {key >> 3} goes on behind the end of its message")
        yield key >> 3, value


def once(data):
    """Returns a dict from field number to value. Each field may occur only once in the protobuf
    message."""
    found = {}
    for number, value in fields(data):
        if number in found:
            raise ValueError(f"field {number} occurs twice")
        found[number] = value
    return found


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(signed(value))
    return values


def native(schema, spans, deltas):
    """Returns the counts of a native histogram by bucket index."""
    found, index, count = {}, 0, 0
    deltas = iter(deltas)
    for offset, length in spans:
        index += offset
        for _ in range(length):
            count += next(deltas)
            found[index] = count
            index += 1
    if next(deltas, None) is not None:
        raise ValueError("more deltas than the spans have buckets")
    if any(count < 0 for count in found.values()):
        raise ValueError(f"a negative count: {found}")
    return {"schema": schema, "buckets": found}


def histogram(data):
    found = {"le": [], "count": 0, "sum": 0.0, "native": None}
    schema, threshold, zero, spans, deltas = None, 0.0, 0, [], []
    for number, value in fields(data):
        if number == 1:
            found["count"] = value
        elif number == 2:
            found["sum"] = value
        elif number == 3:
            bucket = once(value)
            found["le"].append((bucket[2], bucket.get(1, 0)))
        elif number == 5:
            schema = signed(value)
        elif number == 6:
            threshold = value
        elif number == 7:
            zero = value
        elif number == 12:
            span = once(value)
            spans.append((signed(span.get(1, 0)), span.get(2, 0)))
        elif number == 13:
            deltas += packed(value)
        else:
            raise ValueError(f"field {number} in a histogram")
    if schema is not None:
        found["native"] = {**native(schema, spans, deltas), "zero": zero, "threshold": threshold}
    return found


def metric(data):
    labels, value = {}, None
    for number, field in fields(data):
        if number == 1:
            pair = once(field)
            labels[pair[1].decode()] = pair[2].decode()
        elif number in (2, 3):
            value = once(field)[1]
        elif number == 7:
            value = histogram(field)
        else:
            raise ValueError(f"field {number} in a metric")
    return labels, value


def family(data):
    found = {"metrics": []}
    for number, value in fields(data):
        if number == 1:
            found["name"] = value.decode()
        elif number == 2:
            found["help"] = value.decode()
        elif number == 3:
            found["type"] = TYPES[value]
        elif number == 4:
            found["metrics"].append(metric(value))
        else:
            raise ValueError(f"field {number} in a family")
    return found


def decode(data):
    at, found = 0, []
    while at < len(data):
        size, at = varint(data, at)
        if at + size > len(data):
            raise ValueError("a family goes on behind the end")
        found.append(family(data[at:at + size]))
        at += size
    return found


def escape(value):
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def sample(name, labels):
    inside = ",".join(f'{key}="{escape(value)}"' for key, value in labels.items())
    return f"{name}{{{inside}}}" if inside else name


def seconds(value):
    """Formats a histogram boundary as in the text formats."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def flat(families):
    """Returns the samples with the names and labels of the text format."""
    found = {}
    for each in families:
        for labels, value in each["metrics"]:
            if each["type"] != "histogram":
                found[sample(each["name"], labels)] = value
                continue
            for le, count in value["le"] + [(None, value["count"])]:
                edge = "+Inf" if le is None else seconds(le)
                found[sample(each["name"] + "_bucket", {**labels, "le": edge})] = count
            found[sample(each["name"] + "_sum", labels)] = value["sum"]
            found[sample(each["name"] + "_count", labels)] = value["count"]
    return found
