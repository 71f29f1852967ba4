import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP file with these entries, stored or deflated. */
export function zipOf(entries: Record<string, string | Buffer>, method: 'stored' | 'deflated' = 'stored'): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const [label, plain] = [Buffer.from(name), Buffer.from(content)];
    const body = method === 'stored' ? plain : deflateRawSync(plain);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x0800, 2);
    fields.writeUInt16LE(method === 'stored' ? 0 : 8, 4);
    fields.writeUInt32LE(crc32(plain), 10);
    fields.writeUInt32LE(body.length, 14);
    fields.writeUInt32LE(plain.length, 18);
    fields.writeUInt16LE(label.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), fields, label, body]);
    bodies.push(local);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'), fields, place, label]));
    at += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, list, end]);
}
