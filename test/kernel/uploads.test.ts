import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { z } from 'zod';
import { areas } from '#areas/index.ts';
import { ApiError } from '#kernel/errors.ts';
import { openApi } from '#kernel/openapi.ts';
import { readForm, Upload, uploaded } from '#kernel/uploads.ts';
import { connectObjects } from '#platform/objects.ts';

const schema = z.strictObject({
  name: z.string().optional(),
  order: z.int().optional(),
  icon: z.string().nullable().optional(),
  list: z.array(z.string()).optional(),
  picture: uploaded.optional(),
});
const files = { picture: { media: ['image/png'], maxBytes: 1000 } };

const objects = connectObjects('file:///nowhere');

const part = (name: string, value: string, more = ''): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const read = (body: string, maxFieldBytes = 1000, headers: Record<string, string> = {}) => {
  const request = Readable.from([Buffer.from(body)]) as unknown as IncomingMessage;
  request.headers = { 'content-type': 'multipart/form-data; boundary=x', ...headers };
  return readForm(request, { files, schema, maxFieldBytes, objects });
};
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) return String(error);
  const { issues } = error.details as { issues?: { path: string[]; code: string }[] };
  return [error.status, issues?.[0]?.path.join('.'), issues?.[0]?.code].filter(Boolean).join(' ');
};
const END = '--x--\r\n';

describe('forms', () => {
  it('give text where the schema takes text, JSON elsewhere, and files as bytes', async () => {
    const json = '"\r\nContent-Type: application/json';
    const body = [
      part('name', '42'),
      part('order', '42'),
      part('list', '["a"]'),
      `--x\r\nContent-Disposition: form-data; name="icon${json}\r\n\r\nnull\r\n`,
      part('picture', 'bytes', '; filename="a.png"\r\nContent-Type: image/png; q=1'),
      END,
    ].join('');
    const members = await read(body);
    expect(members).to.deep.include({ name: '42', order: 42, list: ['a'], icon: null });
    expect(members.picture).to.be.instanceOf(Upload);
    expect(members.picture).to.deep.include({ type: 'image/png', bytes: Buffer.from('bytes') });
    expect(schema.safeParse(members).success).to.equal(true);
  });

  it('are refused for parts that are unknown, twice, too large, too many or cut', async () => {
    expect(
      await refusal(read(part('picture', 'x', '; filename="a"') + part('picture', 'x', '; filename="a"') + END)),
    ).to.equal('400 body.picture duplicate');
    expect(await refusal(read(part('name', 'x') + part('name', 'y') + END))).to.equal('400 body.name duplicate');
    expect(await refusal(read(part('other', 'x', '; filename="a"') + END))).to.equal('400 body.other unknown_field');
    expect(await refusal(read(part('picture', 'x'.repeat(1001), '; filename="a"') + END))).to.equal('413');
    expect(await refusal(read(part('name', 'x'.repeat(600)) + part('icon', 'x'.repeat(600)) + END))).to.equal('413');
    expect(await refusal(read(part('name', 'x').repeat(300) + END))).to.match(/^400 body/);
    expect(await refusal(read(part('name', 'x')))).to.equal('400 body invalid_form');
    expect(await refusal(read('', 1000, { 'content-type': 'multipart/form-data' }))).to.equal(
      '400 headers.content-type invalid_form',
    );
    expect(await refusal(read('', 1000, { 'content-length': '99999999' }))).to.equal('413');
    expect(Object.getPrototypeOf(await read(part('__proto__', '{"a":1}') + END))).to.equal(Object.prototype);
  });

  it('count as content under an Idempotency-Key by their hash', () => {
    const text = JSON.stringify({ picture: new Upload(Buffer.alloc(1000), 'image/png') });
    expect(text.length).to.be.below(200);
    expect(text).to.not.equal(JSON.stringify({ picture: new Upload(Buffer.alloc(1001), 'image/png') }));
  });

  it('and bodies of bytes are described', () => {
    interface Described {
      requestBody: { content: Record<string, { schema: Record<string, unknown>; encoding?: object }> };
    }
    const { paths } = JSON.parse(JSON.stringify(openApi(areas, '1'))) as {
      paths: Record<string, Record<string, Described>>;
    };
    const bytes = paths['/branding/{kind}/{scheme}']?.put?.requestBody.content ?? {};
    expect(Object.keys(bytes)).to.include.members(['image/png', 'image/svg+xml']);
    expect(bytes['image/png']?.schema).to.deep.equal({ type: 'string', format: 'binary' });
    const form = paths['/libraries/{id}']?.patch?.requestBody.content ?? {};
    expect(Object.keys(form)).to.have.members(['application/json', 'multipart/form-data']);
    const shape = (type: string) => form[type]?.schema.properties as Record<string, unknown>;
    expect(shape('application/json')).to.not.have.property('poster');
    expect(shape('multipart/form-data').poster).to.deep.equal({ type: 'string', format: 'binary' });
    expect(Object.keys(shape('multipart/form-data'))).to.include('name');
  });
});
