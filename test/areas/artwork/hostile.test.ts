import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect } from 'chai';
import sharp from 'sharp';
import { fetchPicture } from '#areas/artwork/editing/fetch-picture.ts';
import { ApiError } from '#kernel/errors.ts';
import { createOutbound } from '#platform/outbound.ts';
import { bomb } from '#support/pictures.ts';
import { issueOf } from '#support/signing-in.ts';
import { atEnd } from '#support/stores.ts';
import { formOf, type Gallery, openGallery, painted } from './support.ts';

/** Frames of one pixel in a screen of 64 by 64. */
function longGif(frames: number): Buffer {
  const screen = Buffer.from('474946383961400040008000000000ffffff', 'hex');
  const frame = Buffer.from('21f90400010000002c000000000100010000020244010021f904'.slice(0, 46), 'hex');
  return Buffer.concat([screen, Buffer.from([0]), ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]);
}

describe('Artwork: hostile pictures', function () {
  this.timeout(120_000);
  let gallery: Gallery;
  let film: string;
  before(async () => {
    gallery = await openGallery();
    film = await gallery.film();
  });
  const upload = (bytes: Buffer, kind = 'poster') =>
    gallery.admin.uploadItemArtwork({ params: { id: film }, body: formOf({ kind, bytes }) });

  it('refuses bombs, endless animations and too many pixels before they are decoded', async () => {
    const before = process.memoryUsage().rss;
    expect(issueOf(await upload(bomb(60_000, 60_000)))).to.equal('image_too_large');
    expect(issueOf(await upload(bomb(20_001, 100)))).to.equal('image_too_large');
    expect(issueOf(await upload(bomb(12_000, 12_000)))).to.equal('image_too_large');
    expect(issueOf(await upload(longGif(10_000)))).to.be.oneOf(['animation_too_long', 'not_an_image']);
    expect(process.memoryUsage().rss - before).to.be.lessThan(400 << 20);
    const widest = await upload(bomb(20_000, 60));
    expect(widest.status, JSON.stringify(widest.body)).to.equal(201);
    const served = await gallery.member.getImage({ params: { id: widest.body.id }, query: { width: 320 } });
    expect(served.status).to.equal(200);
  });

  it('refuses documents, archives, drawings and what only begins like a picture', async () => {
    const heads = [
      '%PDF-1.7',
      'PK\u0003\u0004',
      '<svg xmlns="http://www.w3.org/2000/svg">',
      '<!doctype html>',
      '\u007fELF',
    ];
    for (const head of heads) {
      const answer = await upload(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.alloc(500, 32)]));
      expect(answer.status, head).to.be.oneOf([400, 415]);
    }
    for (const format of ['jpeg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const) {
      const whole = await sharp(await painted(300, 300, '#c04020'))
        .toFormat(format)
        .toBuffer();
      expect((await upload(whole)).status, format).to.equal(201);
      for (const part of [0.1, 0.4, 0.7]) {
        const cut = await upload(whole.subarray(0, Math.floor(whole.length * part)));
        expect(cut.status, `${format} ${part}`).to.be.oneOf([400, 415]);
      }
      const noise = Buffer.concat([whole.subarray(0, 40), Buffer.alloc(2000, 0xa5)]);
      expect((await upload(noise)).status, `${format} noise`).to.be.oneOf([400, 415]);
    }
  });

  it('serves of a picture with a page behind it only the picture', async () => {
    const page = '<script>alert(1)</script>PK\u0003\u0004';
    const bytes = Buffer.concat([await painted(300, 450, '#c04020'), Buffer.from(page)]);
    const added = await upload(bytes);
    expect(added.status).to.equal(201);
    for (const format of ['jpeg', 'png', 'webp']) {
      const answer = await gallery.member.getImage({ params: { id: added.body.id }, query: { format } });
      expect(answer.headers.get('content-type')).to.equal(`image/${format}`);
      expect((answer.body as unknown as Buffer).includes('<script>')).to.equal(false);
    }
  });

  it('fetches no private address, in any spelling, and none by another scheme or port', async () => {
    const urls = [
      ...['http://127.0.0.1/x.jpg', 'http://127.1/', 'http://0x7f000001/', 'http://2130706433/', 'http://[::1]/'],
      ...[
        'http://[::ffff:7f00:1]/',
        'http://169.254.169.254/latest/meta-data/',
        'http://10.0.0.1/',
        'http://localhost/',
      ],
      ...['http://foyer-api.media.svc/', 'http://0/', 'https://192.168.1.1/', 'http://example.com:6379/'],
      ...['http://user:pass@93.184.215.14/'],
    ];
    for (const url of urls) {
      const body = { kind: 'poster', url };
      const answer = await gallery.admin.importItemArtwork({ params: { id: film }, body });
      expect([answer.status, issueOf(answer)], url).to.deep.equal([400, 'address_not_allowed']);
    }
    for (const url of ['file:///etc/passwd', 'ftp://example.com/x', 'data:image/png;base64,AAAA']) {
      const answer = await gallery.admin.importItemArtwork({ params: { id: film }, body: { kind: 'poster', url } });
      expect(answer.status, url).to.equal(400);
    }
    const both = { kind: 'poster', url: 'https://example.com/x', candidateId: 'x' };
    expect(issueOf(await gallery.admin.importItemArtwork({ params: { id: film }, body: both }))).to.equal(
      'exactly_one',
    );
  });
});

describe('Artwork: pictures of other servers', function () {
  this.timeout(60_000);
  const outbound = createOutbound();
  async function serve(listener: RequestListener): Promise<{ url: string; port: number }> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    return { url: `http://127.0.0.1:${port}/poster.jpg`, port };
  }
  const open = (port: number) => ({ allow: ['127.0.0.1/32'], ports: [port], timeoutMs: 2000 });
  const fetched = async (listener: RequestListener) => {
    const { url, port } = await serve(listener);
    return fetchPicture(outbound, url, { path: ['body', 'url'], rules: open(port) }).catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
  };
  const codeOf = async (listener: RequestListener): Promise<string> => {
    const answer = await fetched(listener);
    return answer instanceof ApiError ? answer.code : 'fetched';
  };

  it('come with their bytes and without cookies or credentials', async () => {
    const bytes = await painted(300, 450, '#c04020');
    let sent: Record<string, unknown> = {};
    const got = await fetched((request, response) => {
      sent = request.headers;
      response.setHeader('content-type', 'image/jpeg; charset=x').end(bytes);
    });
    expect(got).to.deep.equal({ bytes, type: 'image/jpeg' });
    expect(sent).to.not.have.any.keys('cookie', 'authorization', 'referer');
  });

  it('are refused when the other server fails, ends early, never ends, or sends too much', async () => {
    expect(await codeOf((_request, response) => response.writeHead(404).end())).to.equal('PROVIDER_UNAVAILABLE');
    expect(
      await codeOf((_request, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('x');
        setTimeout(() => response.destroy(), 50);
      }),
    ).to.equal('PROVIDER_UNAVAILABLE');
    expect(await codeOf((_request, response) => void response.writeHead(200).write('x'))).to.equal(
      'PROVIDER_UNAVAILABLE',
    );
    const endless = Buffer.alloc(1 << 20, 7);
    expect(
      await codeOf((_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(endless));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }),
    ).to.equal('PAYLOAD_TOO_LARGE');
  });

  it('are refused after a redirect to a private address, to another port, and after too many', async () => {
    const to =
      (location: string): RequestListener =>
      (_request, response) =>
        response.writeHead(302, { location }).end();
    expect(await codeOf(to('http://169.254.169.254/latest'))).to.equal('VALIDATION_FAILED');
    expect(await codeOf(to('http://127.0.0.1:1/'))).to.equal('VALIDATION_FAILED');
    expect(await codeOf(to('/again'))).to.equal('VALIDATION_FAILED');
    expect(await codeOf(to('gopher://127.0.0.1/'))).to.equal('VALIDATION_FAILED');
  });
});
