async function f(t,a,i,{changes:r,seen:s}){Object.keys(r).length!==0&&(await t.get(a,i.id)||await t.restore(a,i.id,i),await t.update(a,i.id,r,s))}export{f as s};
