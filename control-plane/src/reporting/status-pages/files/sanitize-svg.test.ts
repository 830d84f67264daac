import fc from '@parallax/testkit/fast-check';
import { SaxesParser } from 'saxes';
import t from 'tap';
import { sanitizeSvg, SvgError } from './sanitize-svg.ts';
import { drawingElements, geometryAttributes, paintAttributes } from './svg-names.ts';

const svg = (inner: string, attributes = ''): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${inner}</svg>`;
const clean = (text: string | Buffer): string => sanitizeSvg(Buffer.from(text)).text;
const head = '<svg xmlns="http://www.w3.org/2000/svg">';
const refusal = (text: string | Buffer): string => {
  try {
    return `taken: ${clean(text)}`;
  } catch (error) {
    if (error instanceof SvgError) return error.message;
    throw error;
  }
};

t.test('a logo of a drawing program is written anew, without what draws nothing', async (t) => {
  const inkscape = `\ufeff<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!-- Created with Inkscape -->
<svg width="120px" height="40" viewBox="0 0 120 40" version="1.1" id="svg1" xmlns="http://www.w3.org/2000/svg" class="logo" role="img"
   xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"
   xmlns:s="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd" inkscape:version="1.3">
  <s:namedview id="n"><inkscape:grid/></s:namedview>
  <metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><script/></rdf:RDF></metadata>
  <title>Shop &amp; Co</title>
  <defs><linearGradient id="a"><stop offset="0" style="stop-color:#f00;-inkscape-stroke:none"/></linearGradient>
    <linearGradient id="b" xlink:href="#a"/><path id="p" d="M0 0h1"/></defs>
  <g fill="red" style="fill:#00f;stroke : url(#b) !important"><use xlink:href="#p" x="2"/><text x="1" font-family='"Noto Sans", serif'>A&lt;B<![CDATA[<c>]]></text></g>
</svg>`;
  t.same(sanitizeSvg(Buffer.from(inkscape)), {
    text:
      '<svg xmlns="http://www.w3.org/2000/svg" width="120px" height="40" viewBox="0 0 120 40" id="svg1"><title>Shop &amp; Co</title>' +
      '<defs><linearGradient id="a"><stop offset="0" stop-color="#f00"></stop></linearGradient><linearGradient id="b" href="#a"></linearGradient>' +
      '<path id="p" d="M0 0h1"></path></defs><g fill="#00f" stroke="url(#b)"><use href="#p" x="2"></use>' +
      '<text x="1" font-family="&quot;Noto Sans&quot;, serif">A&lt;B&lt;c&gt;</text></g></svg>',
    width: 120,
    height: 40,
  });
  t.same(sanitizeSvg(Buffer.from(svg('', 'viewBox="0 0 64.4,32"'))), {
    text: `${head.slice(0, -1)} viewBox="0 0 64.4,32"></svg>`,
    width: 64,
    height: 32,
  });
  t.match(sanitizeSvg(Buffer.from(svg('', 'width="100%"'))), { width: null, height: null });
  t.equal(clean('<v:svg xmlns:v="http://www.w3.org/2000/svg"><v:rect/></v:svg>'), `${head}<rect></rect></svg>`);
});

t.test('whatever acts, loads or is unknown is refused by its name', async (t) => {
  const refused: Readonly<Record<string, string>> = {
    '<script>alert(1)</script>': 'the element <script>',
    '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>': 'the element <x:script>',
    '<style>@import url(//evil.example)</style>': 'the element <style>',
    '<foreignObject/>': 'the element <foreignObject>',
    '<image href="https://evil.example/x.png"/>': 'the element <image>',
    '<a href="#x"/>': 'the element <a>',
    '<animate attributeName="href"/>': 'the element <animate>',
    '<set attributeName="onload"/>': 'the element <set>',
    '<filter/>': 'the element <filter>',
    '<SCRIPT/>': 'the element <SCRIPT>',
    '<rect onload="alert(1)"/>': 'the attribute onload',
    '<rect onClick="alert(1)"/>': 'the attribute onClick',
    '<rect formaction="x"/>': 'the attribute formaction',
    '<rect href="#x"/>': '<rect> may not refer to anything',
    '<use href="https://evil.example/x.svg#y"/>': '<use> may refer to an element of the picture alone',
    '<use xlink:href="data:image/svg+xml;base64,AAAA#x"/>': '<use> may refer to an element of the picture alone',
    '<use href="javascript:alert(1)"/>': '<use> may refer to an element of the picture alone',
    '<linearGradient xlink:href="//evil.example#a"/>': '<linearGradient> may refer to an element of the picture alone',
    '<rect fill="url(https://evil.example/x#a)"/>': 'fill of <rect> may refer to an element of the picture alone',
    '<rect fill="u\\72l(//evil.example)"/>': 'fill of <rect> has characters that are not taken',
    '<rect fill="url(#a) url(//evil.example)"/>': 'fill of <rect> may refer',
    '<rect mask="URL(//evil.example)"/>': 'mask of <rect> may refer',
    '<rect style="background:url(//evil.example)"/>': 'the style background',
    '<rect style="fill:/**/url(//evil.example)"/>': 'fill of <rect> has characters',
    '<rect style="-moz-binding:url(//evil.example)"/>': 'the style -moz-binding',
    '<rect style="behavior"/>': 'the style behavior',
    '<rect id="a b"/>': 'id of <rect> must be a name',
    '<?xml-stylesheet href="//evil.example"?>': 'the processing instruction xml-stylesheet',
    '<rect': 'it is not well-formed XML',
    '<text>&evil;</text>': 'it is not well-formed XML',
    '<text>&nbsp;</text>': 'it is not well-formed XML',
    '<rect x="1" x="2"/>': 'it is not well-formed XML',
    '</svg><svg>': 'it is not well-formed XML',
  };
  for (const [inner, message] of Object.entries(refused)) t.match(refusal(svg(inner)), message, inner);
  t.match(refusal('<html xmlns="http://www.w3.org/1999/xhtml"/>'), 'its first element must be <svg');
  t.match(refusal('<svg/>'), 'its first element must be <svg', 'without its namespace it is none');
  t.match(refusal(`<!DOCTYPE svg [<!ENTITY x "y">]>${svg('<text>&x;</text>')}`), 'a DOCTYPE is not taken');
  t.match(refusal(Buffer.from(svg(''), 'utf16le')), /not in UTF-8|not well-formed|first element/);
  t.match(refusal(Buffer.concat([Buffer.from(head), Buffer.from([0xff])])), 'it is not in UTF-8');
  t.match(refusal(''), 'it is not well-formed XML');
  t.match(refusal(svg('\n\n<script/>')), /^line 3: /, 'where it is');
});

t.test('a picture cannot grow by referring to itself', async (t) => {
  const nested = Array.from({ length: 30 }, (_, n) => `<g id="g${n + 1}"><use href="#g${n}"/><use href="#g${n}"/></g>`);
  t.match(
    refusal(svg(`<rect id="g0"/>${nested.join('')}<use href="#g30"/>`)),
    'the reference to #g0 stands in something',
  );
  t.match(refusal(svg('<g id="a"><use href="#a"/></g>')), 'the reference to #a');
  t.match(refusal(svg('<pattern id="a"><rect fill="url(#b)"/></pattern><pattern id="b"/>')), 'the reference to #b');
  t.match(refusal(svg('<symbol id="s"><g><use href="#x"/></g></symbol>')), 'the reference to #x');
  t.match(
    clean(svg('<mask id="m"><rect fill="url(#l)"/></mask><radialGradient id="l"/>')),
    'url(#l)',
    'gradients hold nothing',
  );
  t.match(
    clean(svg('<g id="a"><rect clip-path="url(#c)"/></g><clipPath id="c"><rect/></clipPath><use href="#c"/>')),
    'url(#c)',
  );
  t.match(refusal(svg('<g>'.repeat(100) + '</g>'.repeat(100))), 'nested more than 60 deep');
  t.match(refusal(svg('<g/>'.repeat(5_001))), 'more than 5000 elements');
});

t.test('whatever is taken holds nothing that is not on the lists, and is taken again as it is', async () => {
  const names = [
    'rect',
    'use',
    'g',
    'text',
    'script',
    'x:y',
    'style',
    'a',
    'metadata',
    'svg',
    'linearGradient',
    'image',
  ];
  const keys = ['fill', 'style', 'href', 'xlink:href', 'onload', 'id', 'd', 'x:z', 'class', 'mask', 'width'];
  const values = [
    '#a',
    'url(#a)',
    'url(//e)',
    'javascript:x',
    'fill:url(#a)',
    'red',
    '&amp;',
    '&#106;avascript:',
    '1',
    '"',
    '\u0000',
    ';',
  ];
  const attribute = fc.tuple(
    fc.constantFrom(...keys),
    fc.oneof(fc.constantFrom(...values), fc.string({ maxLength: 6 })),
  );
  const around = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc
      .tuple(fc.constantFrom(...names), fc.array(attribute, { maxLength: 2 }), inner, fc.string({ maxLength: 4 }))
      .map(([name, attributes, within, text]) => {
        const written = attributes.map(([key, value]) => ` ${key}="${value.replaceAll(/["<]/g, '')}"`).join('');
        return `<${name}${written}>${text.replaceAll('<', '')}${within}</${name}>`;
      });
  const tree = around(around(fc.constant('')));
  fc.assert(
    fc.property(tree, (inner) => {
      const text = refusal(svg(inner, 'xmlns:x="urn:x"'));
      if (!text.startsWith('taken: ')) return;
      const taken = text.slice('taken: '.length);
      const parser = new SaxesParser();
      parser.on('opentag', ({ name, attributes }) => {
        if (!drawingElements.has(name)) throw new Error(`<${name}>`);
        for (const [key, value] of Object.entries(attributes)) {
          const isLocal = key !== 'href' || value.startsWith('#');
          const isKnown = key === 'xmlns' || key === 'href' || paintAttributes.has(key) || geometryAttributes.has(key);
          if (!isLocal || !isKnown || (key !== 'id' && /javascript|url\((?!#)/i.test(value)))
            throw new Error(`${key}="${value}"`);
        }
      });
      parser.write(taken).close();
      if (clean(taken) !== taken) throw new Error('it is not the same again');
    }),
    { numRuns: 2_000 },
  );
});
