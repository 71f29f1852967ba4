// Fonts that are none, or whose tables are wrong.

/** A font file of these tables; a table may state another place and length than it has. */
function sfnt(
  tables: Readonly<Record<string, Buffer>>,
  placed: (at: number, length: number) => [number, number],
): Buffer {
  const names = Object.keys(tables).sort();
  const head = Buffer.alloc(12 + 16 * names.length);
  head.writeUInt32BE(0x0001_0000, 0);
  head.writeUInt16BE(names.length, 4);
  let at = head.length;
  const parts = [head];
  for (const [i, name] of names.entries()) {
    const table = tables[name] ?? Buffer.alloc(0);
    const [offset, length] = placed(at, table.length);
    head.write(name, 12 + 16 * i, 'latin1');
    head.writeUInt32BE(offset, 12 + 16 * i + 8);
    head.writeUInt32BE(length, 12 + 16 * i + 12);
    const padded = Buffer.concat([table, Buffer.alloc((4 - (table.length % 4)) % 4)]);
    parts.push(padded);
    at += padded.length;
  }
  return Buffer.concat(parts);
}

const words = (...values: number[]): Buffer =>
  Buffer.from(new Uint16Array(values.map((one) => one & 0xff_ff)).buffer).swap16();
const longs = (...values: number[]): Buffer => Buffer.from(new Uint32Array(values).buffer).swap32();

/** The names of a font, in the shape of Windows. */
function names(family: string): Buffer {
  const given = (
    [
      [1, family],
      [2, 'Regular'],
      [4, family],
      [6, family],
    ] as const
  ).map(([id, text]) => [id, Buffer.from(text, 'utf16le').swap16()] as const);
  let at = 0;
  const records = given.map(([id, text]) => {
    const record = words(3, 1, 0x4_09, id, text.length, at);
    at += text.length;
    return record;
  });
  return Buffer.concat([words(0, given.length, 6 + 12 * given.length), ...records, ...given.map(([, text]) => text)]);
}

/** States the most glyphs that there may be, has each character in one of them, and draws it by itself again and again. */
function endless(family: string): Record<string, Buffer> {
  const head = Buffer.alloc(54);
  longs(0x1_00_00, 0, 0, 0x5f0f_3cf5).copy(head);
  words(0, 1000).copy(head, 16);
  words(1).copy(head, 50); // long offsets
  const hhea = Buffer.alloc(36);
  longs(0x1_00_00).copy(hhea);
  words(800, -200).copy(hhea, 4);
  words(65_535).copy(hhea, 34);
  const maxp = Buffer.concat([longs(0x1_00_00), Buffer.alloc(28, 0xff)]);
  const group = longs(0, 0x10_ff_ff, 1);
  const cmap = Buffer.concat([words(0, 1, 3, 10), longs(12), words(12, 0), longs(28, 0, 1), group]);
  const glyph = Buffer.concat([words(-1, 0, 0, 1000, 1000), words(0x0022, 5, 0), words(0x0002, 6, 0)]);
  const loca = longs(...Array.from({ length: 65_536 }, (_, i) => (i % 2) * glyph.length));
  return {
    head,
    hhea,
    maxp,
    cmap,
    glyf: glyph,
    loca,
    hmtx: words(500, 0),
    name: names(family),
    post: longs(0x3_00_00, 0, 0, 0),
  };
}

/** Files that begin as a font does. */
export const lyingFonts = (family: string): Readonly<Record<string, Buffer>> => ({
  'none.ttf': Buffer.concat([Buffer.from([0, 1, 0, 0]), Buffer.alloc(5000, 7)]),
  'outside.ttf': sfnt(endless(family), (at, length) => [at + 0x7000_0000, length]),
  'lengths.ttf': sfnt(endless(family), (at) => [at, 0xffff_fff0]),
  'empty.ttf': sfnt({ name: names(family) }, (at, length) => [at, length]),
});

export const endlessFont = (family: string): Buffer => sfnt(endless(family), (at, length) => [at, length]);
