import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import sharp from 'sharp';
import { createPictures, type PictureMake, PictureRefused, type PictureRules } from '#platform/pictures.ts';
import { factsOf, gif, pixel, plain, png } from '#support/pictures.ts';
import { cleanSvg } from '../../api/platform/pictures-svg.ts';

const pictures = createPictures(undefined);
const rules: PictureRules = {
  accepts: ['png', 'jpeg', 'webp', 'avif', 'gif', 'svg'],
  minSide: 16,
  maxSide: 4096,
  maxPixels: 1e8,
  maxFrames: 60,
  maxMs: 5000,
};
const webp: PictureMake = { format: 'webp', width: 1024, height: 1024, fit: 'inside', lossless: true };
const take = (bytes: Buffer, make: PictureMake = webp, more: Partial<PictureRules> = {}) =>
  pictures.take({ bytes, type: 'image/png' }, { ...rules, ...more }, make);
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: unknown) => (error instanceof PictureRefused ? error.reason : String(error)),
  );
const svg = (inside: string, attributes = 'viewBox="0 0 100 50"'): Buffer =>
  Buffer.from(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${inside}</svg>`);

describe('Pictures of others', () => {
  it('are recognised by their content and encoded again, of every kind', async () => {
    const kinds = { png: 'png', jpeg: 'jpeg', webp: 'webp', avif: 'avif', gif: 'gif' } as const;
    for (const kind of Object.values(kinds)) {
      const made = await take(await plain(300, 200)[kind]().toBuffer());
      expect(made, kind).to.include({ type: `image/${kind}`, width: 300, height: 200, frames: 1 });
      expect(await factsOf(made.bytes)).to.include({ format: 'webp', width: 300, height: 200 });
      expect(made.blurhash).to.match(/^L[0-9A-Za-z#$%*+,\-.:;=?@[\]^_{|}~]{27}$/);
      expect(made.dominant).to.equal('#f88808');
    }
  });

  it('lose their metadata and stand upright', async () => {
    const given = await sharp(await png(300, 200))
      .jpeg()
      .withExif({ IFD0: { Copyright: 'SECRET-PLACE', ImageDescription: 'SECRET-PLACE' } })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    expect((await sharp(given).metadata()).orientation).to.equal(6);
    const made = await take(given);
    expect(made).to.include({ width: 200, height: 300 });
    const facts = await factsOf(made.bytes);
    expect(facts).to.include({ width: 200, height: 300 });
    expect(facts.exif).to.equal(undefined);
    expect(facts.orientation).to.equal(undefined);
    const described = await sharp(await png())
      .withExif({ IFD0: { ImageDescription: 'SECRET-PLACE' } })
      .png()
      .toBuffer();
    expect(described.includes('SECRET-PLACE')).to.equal(true);
    expect((await take(described)).bytes.includes('SECRET-PLACE')).to.equal(false);
  });

  it('are cropped about the centre, padded or kept in shape', async () => {
    const given = await png(300, 200);
    const cover = await take(given, { format: 'png', width: 64, height: 64, fit: 'cover' });
    expect(await factsOf(cover.bytes)).to.include({ format: 'png', width: 64, height: 64 });
    const contain = { format: 'png', width: 64, height: 64, fit: 'contain', background: '#0000ff' } as const;
    const padded = await take(given, contain);
    expect(await pixel(padded.bytes, 32, 0)).to.equal('#0000ffff');
    expect(await pixel(padded.bytes, 32, 32)).to.equal('#ff8800ff');
    expect((await take(given, { ...webp, width: 150, height: 150 })).made).to.include({ width: 150, height: 100 });
  });

  it('keep their frames where that is requested, and the first alone elsewhere', async () => {
    const given = await gif(5);
    const all = await take(given, { ...webp, animated: true });
    expect(all.made).to.deep.equal({ width: 64, height: 64, animated: true });
    expect((await factsOf(all.bytes)).pages).to.equal(5);
    expect((await factsOf((await take(given)).bytes)).pages ?? 1).to.equal(1);
  });

  it('are rejected by their kind, each with its code', async () => {
    const whole = await png(800, 600);
    const noise = await sharp({
      create: {
        width: 300,
        height: 300,
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma: 40 },
      },
    })
      .jpeg()
      .toBuffer();
    expect(await reasonOf(take(whole.subarray(0, whole.length - 100)))).to.equal('not_an_image');
    expect(await reasonOf(take(noise.subarray(0, noise.length / 2)))).to.equal('not_an_image');
    expect(await reasonOf(take(Buffer.from('x'.repeat(1000))))).to.equal('not_an_image');
    expect(await reasonOf(take(Buffer.from('\x89PNG\r\n\x1a\n'.padEnd(100, 'x'), 'latin1')))).to.equal('not_an_image');
    expect(await reasonOf(take(Buffer.from('%PDF-1.7 and more')))).to.equal('unsupported');
    expect(await reasonOf(take(await plain(64, 64).tiff().toBuffer()))).to.equal('unsupported');
    expect(
      await reasonOf(pictures.take({ bytes: Buffer.from('hello, this is text'), type: 'text/plain' }, rules)),
    ).to.equal('unsupported');
    expect(await reasonOf(take(await png(1, 1)))).to.equal('image_too_small');
    expect(await reasonOf(take(await png(4097, 20)))).to.equal('image_too_large');
    expect(await reasonOf(take(await gif(61, 20, 16), { ...webp, animated: true }))).to.equal('animation_too_long');
    expect(await reasonOf(take(await gif(11, 500, 16), { ...webp, animated: true }))).to.equal('animation_too_long');
    expect(await reasonOf(take(svg('<rect width="9" height="9"/>'), webp, { accepts: ['png'] }))).to.equal(
      'unsupported',
    );
  });

  it('that claim huge sides are refused before they are opened', async () => {
    const bomb = await sharp({ create: { width: 15_000, height: 15_000, channels: 3, background: '#fff' } })
      .png({ compressionLevel: 9 })
      .toBuffer();
    expect(bomb.length).to.be.below(2 << 20);
    expect(await reasonOf(take(bomb, webp, { maxSide: 20_000 }))).to.equal('image_too_large');
  }).timeout(30_000);

  it('hold no data that was appended to them', async () => {
    const given = Buffer.concat([await png(), Buffer.from('<script>alert("POLYGLOT")</script>PK\x03\x04')]);
    expect((await take(given)).bytes.includes('POLYGLOT')).to.equal(false);
  });

  it('are opened apart: a picture that breaks one process harms no other', async () => {
    const tasks = Array.from({ length: 12 }, async (_, i) =>
      i % 3 === 0
        ? reasonOf(take(Buffer.from('\xff\xd8\xff'.padEnd(200, '\x00'), 'latin1')))
        : reasonOf(take(await png())),
    );
    const results = await Promise.all(tasks);
    expect(results.filter((one) => one === 'taken')).to.have.length(8);
    expect(results.filter((one) => one === 'not_an_image')).to.have.length(4);
  });

  describe('that are drawings', () => {
    it('become pixels at 1,024 along the longer side', async () => {
      const made = await take(svg('<rect width="100" height="50" fill="#00ff00"/>'));
      expect(made).to.include({ type: 'image/svg+xml', width: 1024, height: 512 });
      expect(await pixel(made.bytes, 500, 250)).to.equal('#00ff00ff');
    });

    it('load nothing: no file, no address, no style from elsewhere, and draw no text', async () => {
      let calls = 0;
      const server = createServer((_request, response) => {
        calls += 1;
        response.end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const at = `http://127.0.0.1:${port}/x.png`;
      const given = svg(
        `<style>@import url(${at}); rect { fill: url(${at}) }</style><script href="${at}">fetch("${at}")</script>
         <image href="${at}" width="100" height="50"/><image href="file:///etc/hostname" width="100" height="50"/>
         <foreignObject width="100" height="50"><body xmlns="http://www.w3.org/1999/xhtml">FOREIGN</body></foreignObject>
         <use href="${at}#a"/><text x="5" y="40" font-size="40">TEXT</text>`,
      );
      const made = await take(given);
      expect(
        await sharp(made.bytes)
          .ensureAlpha()
          .stats()
          .then(({ channels }) => channels[3]?.max),
      ).to.equal(0);
      expect(calls).to.equal(0);
      server.close();
      const clean = cleanSvg(given.toString());
      expect(clean).to.not.match(/http:\/\/127|script|image|foreignObject|FOREIGN|TEXT|file:|@import/);
    });

    it('keep gradients, styles and parts of their own', async () => {
      const made = await take(
        svg(
          `<defs><linearGradient id="a"><stop stop-color="#ff0000"/></linearGradient></defs>
           <style>.b { fill: url(#a) }</style><rect class="b" width="50" height="50"/><rect x="50" fill="url(#a)" width="50" height="50"/>`,
        ),
      );
      expect(await pixel(made.bytes, 250, 250)).to.equal('#ff0000ff');
      expect(await pixel(made.bytes, 750, 250)).to.equal('#ff0000ff');
    });

    it('with entities, endless parts or broken XML are refused', async () => {
      const laughs = Buffer.from(
        `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><desc>&b;</desc></svg>`,
      );
      expect(await reasonOf(take(laughs))).to.equal('not_an_image');
      expect(await reasonOf(take(svg('<rect>')))).to.equal('not_an_image');
      expect(await reasonOf(take(svg('<g/>'.repeat(60_000))))).to.equal('not_an_image');
      const nested = Array.from({ length: 20 }, (_, i) => `<g id="n${i + 1}">${`<use href="#n${i}"/>`.repeat(10)}</g>`);
      const bomb = svg(`<defs><rect id="n0" width="1" height="1"/>${nested.join('')}</defs><use href="#n20"/>`);
      expect(await reasonOf(take(bomb))).to.be.oneOf(['not_an_image', 'taken']); // within the time limit, and the next works
      expect(await reasonOf(take(await png()))).to.equal('taken');
    }).timeout(30_000);
  });
});
