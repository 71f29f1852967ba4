/** A camera file made like TIFF: a small preview in its first directory, and a large one in a directory below it. */
export function rawFile(small: Buffer, large: Buffer): Buffer {
  const entry = (tag: number, value: number): Buffer => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt16LE(tag, 0);
    bytes.writeUInt16LE(4, 2);
    bytes.writeUInt32LE(1, 4);
    bytes.writeUInt32LE(value, 8);
    return bytes;
  };
  const directory = (...entries: readonly Buffer[]): Buffer => {
    const count = Buffer.alloc(2);
    count.writeUInt16LE(entries.length);
    return Buffer.concat([count, ...entries, Buffer.alloc(4)]);
  };
  const sizeOf = (count: number): number => 2 + count * 12 + 4;
  const head = Buffer.from('II*\0\u0008\0\0\0', 'latin1');
  const below = head.length + sizeOf(3);
  const smallAt = below + sizeOf(2);
  return Buffer.concat([
    head,
    directory(entry(0x14a, below), entry(0x201, smallAt), entry(0x202, small.length)),
    directory(entry(0x111, smallAt + small.length), entry(0x117, large.length)),
    small,
    large,
  ]);
}
