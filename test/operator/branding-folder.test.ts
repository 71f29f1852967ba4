import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { brandingFolder, writeBranding } from '#operator/local/branding-folder.ts';
import { parseText } from '#operator/local/documents.ts';
import { toResources } from '#operator/local/resources.ts';

describe('spec.branding on one machine', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'foyer-branding-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('lies in a folder as a cluster mounts it: texts, bytes, and nothing but its keys', () => {
    const logo = Buffer.from([0x89, 0x50, 0, 255]);
    const text = `apiVersion: v1
kind: ConfigMap
metadata: { name: brand }
data: { accent: "#aabbcc", "../../evil": x, other: y }
binaryData: { logo-main-dark: "${logo.toString('base64')}" }
`;
    const { resources, problems } = toResources(parseText(text, 'brand.yaml'));
    expect(problems).to.deep.equal([]);
    const folder = brandingFolder(dir);
    writeBranding(folder, resources.configMaps.get('brand') ?? {});
    expect(readdirSync(folder).sort()).to.deep.equal(['accent', 'logo-main-dark']);
    expect(readFileSync(join(folder, 'accent'), 'utf8')).to.equal('#aabbcc');
    expect(readFileSync(join(folder, 'logo-main-dark'))).to.deep.equal(logo);
    expect(existsSync(join(dir, 'evil'))).to.equal(false);
    writeBranding(folder, { footer: 'F' });
    expect(readdirSync(folder)).to.deep.equal(['footer']);
  });
});
